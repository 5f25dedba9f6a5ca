package measure

import (
	"time"

	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// Measures are the figures of one run.
type Measures struct {
	// Warmup is left out of the figures below, which are from Measured. An operation belongs
	// to the phase in which it returned.
	Warmup, Measured Phase
	// Span is the length of the measured part: from the end of the warm-up to the end of the
	// run or, in a partial history, to its last stamp.
	Span time.Duration
	// Arrivals describe the load of an open loop; nil in a closed one, and in a history that
	// was cut short.
	Arrivals *Arrivals
	// GrantsPerSecond is Measured.Grants over Span; zero without a Span.
	GrantsPerSecond float64
	// AttemptsPerGrant is the tries of all acquires, successful or not, over the grants of the
	// measured part; zero if the history does not have them.
	AttemptsPerGrant float64
	// CommandsPerGrant is the number of the design's requests to the server per grant, over the
	// whole run, warm-up included; zero if unknown.
	CommandsPerGrant float64
	// Sent and Received are the bytes on the design's connections to and from its servers,
	// over the whole run.
	Sent, Received Cost
	// Connections is the largest number of these that were open at once, by all clients but stallers;
	// zero if unknown.
	Connections int64
	// ServerCPU is the servers' processor time in ns in the measured part, for any purpose: it
	// includes a guarded store on the same server.
	ServerCPU Cost
	// Stale is the number of reads and writes of the whole run that a guarded store refused.
	Stale int64
	// LostUpdates counts the writes of the whole run that replaced a write which their client had
	// not read, whatever the cause.
	LostUpdates int64
	// Business is the workload's own summary; nil if it counts nothing, and in a history that
	// was cut short.
	Business *runinfo.Business
	// Errors are the errors of the whole run, the most frequent first; see [MaxErrors].
	Errors []Error
	// Timeline has the counts by time.
	Timeline Timeline
}

// A Cost is an amount per grant. An unknown cost differs from zero.
type Cost struct {
	PerGrant float64
	Known    bool
}

// costOf divides a total by the grants.
func costOf(total int64, grants int64) Cost {
	if grants == 0 {
		return Cost{}
	}
	return Cost{PerGrant: float64(total) / float64(grants), Known: true}
}

// Phases returns the phases in the order of time.
func (m *Measures) Phases() []*Phase { return []*Phase{&m.Warmup, &m.Measured} }

// A Phase is a part of a run.
type Phase struct {
	// Name is "warm-up" or "measured".
	Name string
	Counts

	latencies [numOps]Latency
}

// Latency returns the distribution of op in this phase. In a closed loop acquires begin when
// their clients are ready and so have no intended start; there Service is Acquire, and Lag is
// empty.
func (p *Phase) Latency(op Op) *Latency {
	if op == Service && !p.OpenLoop() {
		op = Acquire
	}
	return &p.latencies[op]
}

// OpenLoop reports whether acquires of this phase had an intended start.
func (p *Phase) OpenLoop() bool { return p.latencies[Lag].seen() }

// Counts count the answers to clients, for operations on the lock itself.
type Counts struct {
	// Grants are new holds; Nested are further acquires of a hold its owner had.
	Grants, Nested int64
	// Refused, Unknown, Failed and Lost count operations by outcome.
	Refused, Unknown, Failed, Lost int64
	// Attempts are the tries inside acquires, whatever their result.
	Attempts int64
}
