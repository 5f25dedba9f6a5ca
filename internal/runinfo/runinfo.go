// Package runinfo is what a history says of its run beside the operations: the server, the
// machine, and what the driver counted. It is plain data, reached through the fields of
// history.Header and history.Trailer.
package runinfo

// Server describes the server a run used.
type Server struct {
	// Kind is external, private or embedded.
	Kind    string `json:"kind"`
	Version string `json:"version"`
	// Address is how it was reached, without password; of several, all of them.
	Address string `json:"address,omitempty"`
	// Count is how many servers the design locked on, zero for one.
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

// Arrivals tell how well the timetable of an open loop was kept, in the part of the run
// after the warm-up. An arrival waits as long as all clients are busy, which is the
// lock's doing, and then until an idle one is awake, which is the machine's.
type Arrivals struct {
	// Due is how many fell due, Started how many were begun, Waiting how many that were
	// due had not been begun when the run ended. Arrivals of the warm-up may be among
	// those that were begun after it, or wait at the end.
	Due     int64 `json:"due"`
	Started int64 `json:"started"`
	Waiting int64 `json:"waiting"`
	// BehindNS is for how long the first of Waiting had been due.
	BehindNS int64 `json:"behind_ns"`
	// BusyNS and WakingNS are what all that were begun had waited together, for a client
	// to be idle and for an idle one to wake; WakingMaxNS is the longest of the latter.
	BusyNS      int64 `json:"busy_ns"`
	WakingNS    int64 `json:"waking_ns"`
	WakingMaxNS int64 `json:"waking_max_ns"`
	// Overslept counts those that an idle client began late by more than 10 ms, and by
	// more than half the mean time between two arrivals.
	Overslept int64 `json:"overslept"`
	// Processor is the share, 0 to 1, that the program took of the processors it could
	// use; zero where that is not known.
	Processor float64 `json:"processor,omitempty"`
}

// Traffic is what connections carried, in bytes.
type Traffic struct {
	Sent     int64 `json:"sent_bytes"`
	Received int64 `json:"received_bytes"`
}

// A FaultExposure is how often a fault occurred in a run, and what it met.
type FaultExposure struct {
	// Fault is the fault with its schedule, as it can be asked for again; Kind what
	// it is.
	Fault string `json:"fault"`
	Kind  string `json:"kind"`
	// Occurrences is how often it occurred; MetHeld how often the affected client, or any
	// where it affected the server, held a lock then; MetAcquire how often, of the
	// others, the client was acquiring one.
	Occurrences int64 `json:"occurrences"`
	MetHeld     int64 `json:"met_held"`
	MetAcquire  int64 `json:"met_acquire"`
}

// Business is what the clients of a run came to in the words of their workload, as the driver
// counted it and the store had it at the end.
type Business struct {
	// Says is one sentence; empty where nothing can be said.
	Says string `json:"says,omitempty"`
	// Figures are counts by name, such as sold, gone and oversold; nil where nothing can be said.
	Figures map[string]int64 `json:"figures,omitempty"`
	// Why nothing can be said: the store lost data, or could not be read. Empty where there
	// are figures.
	Why string `json:"why,omitempty"`
}

// Figure returns the figure of that name, and false where there is none. A nil Business has none.
func (b *Business) Figure(name string) (n int64, known bool) {
	if b == nil {
		return 0, false
	}
	n, known = b.Figures[name]
	return n, known
}
