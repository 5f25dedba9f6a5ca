// Package nats has locks on the key-value store of NATS JetStream: a key that is created if it does not
// exist, with a lease that the server ends. The documentation of NATS describes the operations in the
// section Key/Value Store, and leases in ADR-8 and ADR-43.
//
// Documented faults, each with a test:
//   - Delete without a revision (kv-delete) deletes the key of its next owner.
//   - KeyValue.Update takes the lease away: a key that was extended by it is locked for ever. Extend
//     publishes a message with a lease and the expected revision instead.
//   - A lease is whole seconds, at least one: the server refuses less, and drops the fraction of a
//     second, so that a lease of 1.9 s would end after one. The designs round up.
//   - In a bucket with a history of more than one, a lease that is shorter than the bucket's
//     LimitMarkerTTL lasts as long as that. The bucket of a run has a history of one.
package nats
