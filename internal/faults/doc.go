// Package faults makes things go wrong in live runs, on purpose and on record: a
// client stands still or dies, a reply is lost, a server is stopped, killed or
// forgets. A [Fault] says what is to happen and how often; an [Injector] makes it
// happen to the processes, clients and server of one run, takes it down in their
// history, and counts how often it met a held lock.
//
// What the notes of the history say is package checker's to judge: the names are
// those that package explore has for the same faults in virtual time.
package faults
