// Package fault is the table of faults, as data: a row for each kind describes its effects, its
// settings, its conditions and its events in a history ([Rows], [Events]). Live runs (package
// inject), explorations, locktest, the checker, time lines and lists read it. A [Fault] is a row
// with settings: a fault of a live run, and its frequency.
//
// Package inject injects the faults into real clients and servers. This package injects nothing
// and judges nothing, so that any package may import it.
package fault
