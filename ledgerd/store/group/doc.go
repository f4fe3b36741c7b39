// Package group is what stands before a driver's writers, and before its readers where these share queries: a bounded
// queue that lets those who ask at the same time share one transaction, one query or one round trip.
//
//	ask ── Do ──► [ waiting, in order, bounded ] ── Serve ──► group ── the driver's write ──► Done ──► the answer
//
// It promises:
//
//   - Groups are natural: a group is whatever came while the last one was under way. Who asks alone waits for nobody.
//   - The queue and the groups are bounded in number and in bytes. What finds no room gets store.ErrOverloaded at once;
//     an empty queue takes a request of any size. A group ends with the request that reaches its bound in bytes, so it
//     is larger than that by less than its last request.
//   - Requests are served in the order in which they came, by as many workers as call [Queue.Serve].
//   - A caller whose context ends before a worker took its request is sure that nothing was done, and is told so;
//     after that, what it asked for may still happen.
//   - [Queue.Close] lets nothing further in. What was accepted is served; then the workers return.
//
// What a group does, and what it is answered, is the driver's: the queue is generic over both.
package group
