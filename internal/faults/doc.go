// Package faults makes things go wrong in live runs, on purpose and on record: a
// client stands still or dies, a reply is lost, a server is stopped, killed or
// forgets. A fault.Fault says what is to happen and how often; an [Injector] makes it
// happen to the processes, clients and server of one run, takes it down in their
// history, and counts how often it met a held lock.
//
// What there is to know of each fault but its code is in package fault, and what the events
// mean that it records: package explore records the same in virtual time.
package faults
