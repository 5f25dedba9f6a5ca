// Package runinfo has the description of a run in its history beside the operations: the server,
// the machine, and the counts of the driver. It is plain data, reached through the fields of
// history.Header and history.Trailer.
package runinfo

// Server describes the server a run used.
type Server struct {
	// Kind is external, private or embedded.
	Kind    string `json:"kind"`
	Version string `json:"version"`
	// Address is the address it was reached at, without password; all addresses if there are
	// several.
	Address string `json:"address,omitempty"`
	// Count is the number of servers that the design locked on, zero for one.
	Count int `json:"count,omitempty"`
}

// Environment describes the machine and the program that made a run.
type Environment struct {
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	CPUs    int    `json:"cpus"`
	Go      string `json:"go"`
	Version string `json:"lockbench"`
}

// Arrivals tell how well the timetable of an open loop was kept, in the part of the run after the
// warm-up. An arrival waits while all clients are busy, which is up to the lock, and then until
// an idle one is awake, which is up to the machine.
type Arrivals struct {
	// Due counts the arrivals that fell due, Started the arrivals that were begun, Waiting the
	// arrivals that were due but not begun when the run ended. Started and Waiting may include
	// arrivals of the warm-up that were begun after it, or never.
	Due     int64 `json:"due"`
	Started int64 `json:"started"`
	Waiting int64 `json:"waiting"`
	// BehindNS is how long the first of Waiting had been due.
	BehindNS int64 `json:"behind_ns"`
	// BusyNS and WakingNS are the total times that begun arrivals had waited: for a client to be
	// idle, and for an idle client to wake; WakingMaxNS is the longest wait for one to wake.
	BusyNS      int64 `json:"busy_ns"`
	WakingNS    int64 `json:"waking_ns"`
	WakingMaxNS int64 `json:"waking_max_ns"`
	// Overslept counts the arrivals that an idle client began late by more than 10 ms, and by
	// more than half the mean time between two arrivals.
	Overslept int64 `json:"overslept"`
	// Processor is the share, 0 to 1, that the program took of the processors it could use; zero
	// if unknown.
	Processor float64 `json:"processor,omitempty"`
}

// Traffic is the amount of data on connections, in bytes.
type Traffic struct {
	Sent     int64 `json:"sent_bytes"`
	Received int64 `json:"received_bytes"`
	// Connections is the largest number of connections that were open at once, zero if unknown.
	Connections int64 `json:"connections,omitempty"`
}

// A FaultExposure counts the occurrences of a fault in a run, and the operations affected.
type FaultExposure struct {
	// Fault is the fault with its schedule, in the form that requests it again; Kind is its kind.
	Fault string `json:"fault"`
	Kind  string `json:"kind"`
	// Occurrences counts all occurrences. MetHeld counts the occurrences in which the affected
	// client held a lock, or any client if the fault affected the server. MetAcquire counts the
	// other occurrences in which the client was acquiring a lock.
	Occurrences int64 `json:"occurrences"`
	MetHeld     int64 `json:"met_held"`
	MetAcquire  int64 `json:"met_acquire"`
}

// Business is the outcome of a run in the terms of its workload, as the driver counted it and the
// store had it at the end.
type Business struct {
	// Says is one sentence; empty if there is no outcome.
	Says string `json:"says,omitempty"`
	// Figures are counts by name, such as sold, gone and oversold; nil if there is no outcome.
	Figures map[string]int64 `json:"figures,omitempty"`
	// Why says why there is no outcome: the store lost data, or could not be read. It is empty if
	// there are figures.
	Why string `json:"why,omitempty"`
}

// Figure returns the figure with that name, and false if there is none. A nil Business has none.
func (b *Business) Figure(name string) (n int64, known bool) {
	if b == nil {
		return 0, false
	}
	n, known = b.Figures[name]
	return n, known
}
