// Package ordeal puts real ledgerd processes through what processes go through: they are killed at random points, told
// to stop under load, run out of disk, and are flooded. Beside each stands a client that behaves as filters do and takes
// down every answer; afterwards it holds the ledger to them.
//
// What is held to be promised:
//
//   - `execute`, `ok`, `replay`, `result`, `in_flight` and `held` are sent only once what they say is durable: after any
//     end of the process the same question gets the same answer, or one that follows from it;
//   - nothing executes twice: for each call the client's own count of executions that did not surely fail is at most 1;
//   - what cannot be done is refused in words, within a bound, and leaves no damage.
//
// The client counts executions itself, as the tool behind a filter would. It never asks the ledger how often something
// ran.
package ordeal
