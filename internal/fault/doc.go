// Package fault is the one table of faults, as data: a row for each kind says what it is,
// what it takes, what it brings and what of it a history has ([Rows], [Events]). Live runs
// (package inject), explorations, locktest, the checker, time lines and lists read it. A [Fault]
// is a row with settings: what is to go wrong in a live run, and how often.
//
// Package inject carries the faults out on real clients and servers. This package injects
// nothing and judges nothing, so that any package may import it.
package fault
