// Package inject injects faults into live runs and records them: a client is paused or dies,
// a reply is lost, a server is stopped, killed or loses its data. An [Injector] serves the
// processes, clients and servers of one run. It injects each fault.Fault as its settings
// say, records it in the history, and counts how often it met a held lock.
//
// Package fault has the table of faults: data that describes each fault and the events that
// it records. This package injects the faults into real clients and servers. Package explore
// injects the same faults in virtual time.
package inject
