// Package watchmulti has the lock of a document (docs/designs.md#d4), made for cron jobs on many
// servers: a hash with its owner and the end of its lease, changed in WATCH, MULTI, EXEC
// transactions by the clients' clocks. The variants are the document's two ways to wait, both with
// the document's faults.
package watchmulti
