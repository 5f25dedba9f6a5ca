// Package lockbench is the contract between a distributed lock and everything
// in this module that drives, records and judges it.
//
// A lock library takes part by implementing [Locker] and [Lease]. It shows the other
// abilities of its leases (to extend, to fence, to report a loss) by implementing
// the interfaces for them. The package uses the standard library only, so that
// implementing the contract costs a library nothing.
package lockbench
