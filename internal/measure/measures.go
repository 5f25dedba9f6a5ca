package measure

import (
	"time"

	"github.com/lockbench/lockbench/internal/runinfo"
)

// Measures are the figures of one run.
type Measures struct {
	// Warmup is what was left out of the figures below, Measured what they are
	// made of. An operation belongs to the phase in which it returned.
	Warmup, Measured Phase
	// Span is how long the measured part was: from the end of the warm-up to the
	// end of the run or, in a partial history, to its last stamp.
	Span time.Duration
	// Arrivals describe the load of an open loop; nil in a closed one, and in a history
	// that was cut short.
	Arrivals *Arrivals
	// GrantsPerSecond is Measured.Grants over Span; zero without a Span.
	GrantsPerSecond float64
	// AttemptsPerGrant is the tries of all acquires, successful or not, over the
	// grants of the measured part; zero when the history does not say.
	AttemptsPerGrant float64
	// CommandsPerGrant is the requests the design sent to the server over the
	// grants, both of the whole run, warm-up included; zero when not told.
	CommandsPerGrant float64
	// Sent and Received are the bytes that the design's connections carried to and from
	// its servers, of the whole run.
	Sent, Received Cost
	// ServerCPU is the processor time in ns that the servers took in the measured part,
	// whatever they did: a guarded store on the same server is in it.
	ServerCPU Cost
	// Stale is how many reads and writes of the whole run a guarded store refused.
	Stale int64
	// LostUpdates is how many writes of the whole run replaced another's that their
	// writer had not seen, whatever the cause.
	LostUpdates int64
	// Business is what the workload came to in its own words; nil where it counts nothing, and
	// in a history that was cut short.
	Business *runinfo.Business
	// Errors are those of the whole run, the most frequent first; see [MaxErrors].
	Errors []Error
	// Timeline is what happened when.
	Timeline Timeline
}

// A Cost is an amount per grant. Where it is not known, that is not the same as zero.
type Cost struct {
	PerGrant float64
	Known    bool
}

// costOf shares a total among grants.
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

// Latency returns the distribution of op in this phase. In a closed loop, where
// acquires begin when their clients are ready and so have no intended start, Service
// is Acquire, and Lag is empty.
func (p *Phase) Latency(op Op) *Latency {
	if op == Service && !p.OpenLoop() {
		op = Acquire
	}
	return &p.latencies[op]
}

// OpenLoop reports whether acquires of this phase had an intended start.
func (p *Phase) OpenLoop() bool { return p.latencies[Lag].seen() }

// Counts are what clients were told, by the operations on the lock itself.
type Counts struct {
	// Grants are new holds; Nested are further acquires of a hold its owner had.
	Grants, Nested int64
	// Refused, Unknown, Failed and Lost count operations by outcome.
	Refused, Unknown, Failed, Lost int64
	// Attempts are the tries inside acquires, whatever came of them.
	Attempts int64
}
