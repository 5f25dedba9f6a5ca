// Package lockbench is the contract between a distributed lock and lockbench, which loads locks,
// judges what they guarantee and says how fast they are.
//
// lockbench answers two questions: is this lock safe for the work that it guards, and what does
// that cost? It drives locks with concurrent clients and faults, records every call and answer,
// and judges the record. It is for engineers who choose a lock, test a lock library of their own,
// or watch a lock in continuous integration. Most of them need the command, not this package:
//
//	go run github.com/lockbench/lockbench/cmd/lockbench run
//
// A lock takes part by implementing [Locker] and [Lease]. It shows further abilities of its
// leases (to extend, to fence, to report a loss) by implementing the interfaces for them. A
// [Guarantee] is a property of locks, a [Cell] is a guarantee under conditions such as a crash, and
// [Claims] are the cells that a lock is held to. The package uses the standard library only, so
// that implementing the contract costs a library nothing.
//
// The way on:
//
//   - package locktest tests a lock of your own in Go tests, in real time or in virtual time;
//   - package history records a service's locks, and package checker judges the record, as the
//     example shows;
//   - package runner runs and judges designs from a program, with workloads of package workloads;
//   - package impls/design adds a design to the catalogue, or a service for designs to stand on;
//   - https://github.com/lockbench/lockbench has the documentation of the command.
package lockbench
