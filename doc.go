// Package lockbench is the contract between a distributed lock and everything
// in this module that drives, records and judges it.
//
// A lock library takes part by implementing [Locker] and [Lease]; whatever else
// its leases can do (extend, fence, report a loss) it shows by implementing the
// ability interfaces. The package uses the standard library only, so that
// implementing the contract costs a library nothing.
package lockbench
