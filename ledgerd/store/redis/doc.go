// Package redis is the store in Redis 7 or newer, or Valkey, alone or as a cluster; many ledgerds may share it.
//
// It keeps the contract of package store, and promises besides:
//
//   - A Swap is one script call on one hash slot: the record, its results and its index entries change together or not
//     at all, on a single server and on a cluster alike.
//   - A Swap that returned is synced to the server's append-only file (appendfsync always, confirmed by WAITAOF once
//     for all the writes that shared a round trip). With min_replicas it has reached that many replicas too. With
//     accept_loss neither is asked for.
//   - What Load gives is confirmed as far as what Swap gives: a record that another ledgerd wrote a moment ago is
//     confirmed before it is handed out.
//   - A version is the server's microsecond, or the one after the last version of its shard, whichever is greater: it
//     is not given twice, even after a failover that lost the newest writes, as long as the new master's clock is not
//     behind the old one's by more than the time since the last write.
//   - Open refuses a server that would forget: one that evicts, one without an append-only file, a replica, one whose
//     failover can lose what it acknowledged (unless accept_loss says that this is known). It looks again while it
//     runs, at the settings with every group of writes.
//   - What is asked is asked of the store that was opened, as far as it had come: a node that meets another one, none, or
//     an earlier state refuses everything until it is opened again (identity.go). A store is made on demand only.
//   - A write whose fate is not known gets store.ErrUnavailable; it is never sent twice. Only what the server surely
//     did not execute (a moved slot, a forgotten script) is sent again.
//
// The README beside this file tells the life of a row, what survives what, and how to operate the server.
package redis
