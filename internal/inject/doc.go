// Package inject injects faults into live runs and records them: a client stands still or
// dies, a reply is lost, a server is stopped, killed or loses its data. An [Injector] serves
// the processes, clients and server of one run. It carries out each fault.Fault as often as
// its settings say, records it in their history, and counts how often it met a held lock.
//
// Package fault is the table of faults: it is data, and says what each fault is and what the
// events mean that it records. This package carries the faults out on real clients and
// servers. Package explore carries out the same faults in virtual time.
package inject
