package history

import "github.com/lockbench/lockbench"

// Schema is the version of the history format that this package writes.
const Schema = "lockbench/history/v2"

// A Header opens a history and reports how to read it and what to hold it to. It is flat, as the
// JSON object that it is written as.
type Header struct {
	Schema string `json:"schema"`
	// Translated: the file has names of an older format, and Claims and Exercises are what
	// they mean today.
	Translated bool `json:"-"`
	// Design is the lock's name, Claims what it is held to.
	Design string           `json:"design"`
	Claims lockbench.Claims `json:"claims"`
	// Reacquire is what a second acquire by the holder means: refused, nested or
	// refreshed (impls/design).
	Reacquire string `json:"reacquire"`
	// Control says that this is no lock but a control to compare locks with, and which:
	// no-lock, or atomic, whose acquires are whole steps of business. Empty for a lock.
	Control string `json:"control,omitempty"`
	// Renews: the design prolongs its holds by itself.
	Renews bool `json:"renews"`
	// RenewsUnseen: for all that is known of it, the lock may prolong its holds by
	// itself without reporting it. What is held then counts as held until it is
	// released, and no lease counts as longer than the acquire's.
	RenewsUnseen bool `json:"renews_unseen,omitempty"`
	// ToleranceNS is how much longer than a lease the design itself may keep a
	// key from others, in ns.
	ToleranceNS int64 `json:"tolerance_ns"`
	// Exercises is what the workload and its faults can put to the test.
	Exercises []lockbench.Cell `json:"exercises"`

	Workload string         `json:"workload"`
	Params   map[string]any `json:"params,omitempty"`
	Seed     uint64         `json:"seed"`
	// Faults names the kinds of faults that may occur in the run. Where none is named a
	// refusal is judged at once, before a fault that comes later could explain it.
	Faults []string `json:"faults,omitempty"`
	// WarmupNS is how much of the start is left out of measurements, in ns.
	WarmupNS int64 `json:"warmup_ns"`
	// Clients are those that are measured, the first by number; Stallers so many after them that
	// are judged and not measured. A client in the place of one that died has a number that is
	// higher by the sum of both. Zero where nobody stalls apart.
	Clients  int `json:"clients,omitempty"`
	Stallers int `json:"stallers,omitempty"`

	Server      Server      `json:"server"`
	Environment Environment `json:"environment"`
	// Started is the wall-clock time of stamp zero, RFC 3339.
	Started string `json:"started"`
}

// Stalls reports whether a client is one of the stallers.
func (h *Header) Stalls(client int32) bool {
	return h.Stallers > 0 && client >= 0 && int(client)%(h.Clients+h.Stallers) >= h.Clients
}

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

// A Trailer closes a complete history.
type Trailer struct {
	// EndNS is the stamp at which clients stopped, in ns.
	EndNS int64 `json:"end_ns"`
	// Commands is the number of requests the design sent to the server.
	Commands int64 `json:"commands"`
	// Traffic is what the design's connections carried, nil where nobody counted.
	Traffic *Traffic `json:"traffic,omitempty"`
	// ServerCPUNS is the processor time that the servers took from the end of the
	// warm-up to EndNS, in ns, for whatever came to them; nil where that is not known:
	// of servers that others may use, of the embedded one, and across a restart.
	ServerCPUNS *int64 `json:"server_cpu_ns,omitempty"`
	// Ops is the number of operations recorded.
	Ops int64 `json:"ops"`
	// Ended says why the run ended: "duration", "operations", "interrupted" ...
	Ended string `json:"ended"`
	// MonitorOverlaps counts, per key, the entries into a critical section in
	// which the occupancy monitor saw another client within both validities.
	MonitorOverlaps map[string]int64 `json:"witness_overlaps,omitempty"`
	// MonitorEntries is how many entries the monitor saw.
	MonitorEntries int64 `json:"witness_entries"`
	// Faults say how often each fault of a live run occurred.
	Faults []FaultExposure `json:"faults,omitempty"`
	// Arrivals tell how well the timetable of an open loop was kept; nil in a closed one.
	Arrivals *Arrivals `json:"arrivals,omitempty"`
	// Business is what the workload came to in its own words; nil where it counts nothing.
	Business *Business `json:"business,omitempty"`
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
