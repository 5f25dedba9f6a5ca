package results

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/figures"
	"github.com/lockbench/lockbench/internal/limits"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/runinfo"
)

// The quantities of which there are limits.
const (
	RateLimit  = "rate"  // the highest rate of arrivals, per second
	LeaseLimit = "lease" // the shortest lease that no work outlives, in ns
)

// MissedTarget is the exit code of a limit that was looked for and not found, since even
// the easiest value misses what was wanted.
const MissedTarget = 4

// A LimitSearch is the value up to which a design keeps what was wanted of it, and how it was
// found. It is not safe for concurrent use.
type LimitSearch struct {
	LimitQuestion
	LimitAnswer

	Trials    []LimitTrial `json:"trials"`
	SelfCheck *SelfCheck   `json:"self_check,omitempty"`
	// Sentence says it all in one or two sentences.
	Sentence string `json:"sentence"`
	// Exit is the exit code: 0 a limit was found; 1 a claim was broken on the way; 3
	// nothing can be said; 4 even the easiest value was not kept.
	Exit int `json:"exit"`
}

// A LimitQuestion names a limit to search for, its design and the settings.
type LimitQuestion struct {
	Design string `json:"design"`
	// Of is the kind of limit, RateLimit or LeaseLimit.
	Of          string              `json:"of"`
	Workload    string              `json:"workload"`
	Params      map[string]any      `json:"params"`
	Seed        uint64              `json:"seed"`
	Server      runinfo.Server      `json:"server"`
	Environment runinfo.Environment `json:"environment"`
	// Wanted are the conditions that every trial had to meet, beside the claims of the design.
	Wanted []string `json:"wanted"`
}

// A LimitAnswer is the limit that was found, and how sure it is.
type LimitAnswer struct {
	// Value is the limit, in the unit of Of; zero when there is none.
	Value float64 `json:"value"`
	// Beyond is the nearest value further on that was not kept, zero when everything was,
	// and WhyBeyond what was the matter there.
	Beyond    float64 `json:"beyond"`
	WhyBeyond string  `json:"why_beyond,omitempty"`
	// AtLeast: it was the trials that came to their end there, and not the design.
	AtLeast bool `json:"at_least,omitempty"`
	// Unfinished: the search was ended before it could narrow down and confirm the value.
	Unfinished bool `json:"unfinished,omitempty"`
	// Confirmed is how many trials of Value kept everything, of how many.
	Confirmed int `json:"confirmed"`
	Tried     int `json:"tried"`
	// Holds is how many holds the confirmations of a lease had, all of which ended within
	// it, Confidence the confidence with which a share of at most Risk outlives it.
	Holds      int64   `json:"holds,omitempty"`
	Confidence float64 `json:"confidence,omitempty"`
	Risk       float64 `json:"risk,omitempty"`
}

// A LimitTrial is one run of a search for a limit.
type LimitTrial struct {
	Value   float64        `json:"value"`
	Outcome limits.Outcome `json:"outcome"`
	// Why says what was not kept, empty where all was.
	Why        string  `json:"why,omitempty"`
	Grants     int64   `json:"grants"`
	Refused    int64   `json:"refused"`
	GrantsPerS float64 `json:"grants_per_s"`
	// Acquire is from the intended start, of grants.
	Acquire Latency `json:"acquire"`
	// Longest is the longest hold in ns, Outlived how many outlived their lease.
	Longest  int64 `json:"longest_hold_ns"`
	Outlived int64 `json:"outlived"`
	// Broken are the claims that were broken.
	Broken []lockbench.Cell `json:"broken,omitempty"`
	// Errors are those that operations met.
	Errors []Error `json:"errors,omitempty"`
}

// NewLimitTrial is the trial that a run was. What is to be said of it is left to the
// caller, but for the claims that it broke.
func NewLimitTrial(value float64, j *Judged) LimitTrial {
	m := &j.Measures.Measured
	t := LimitTrial{
		Value: value, Grants: j.Verdicts.Grants, Refused: j.Verdicts.Refused, GrantsPerS: j.Measures.GrantsPerSecond,
		Acquire:  latencyOf(m.Latency(measure.Acquire)),
		Longest:  int64(max(m.Latency(measure.Hold).Max(), j.Measures.Warmup.Latency(measure.Hold).Max())),
		Outlived: outlived(j),
		Errors:   newErrors(j.Measures.Errors),
	}
	t.Broken = j.Verdicts.Cells().Against()
	return t
}

// outlived returns how many holds lasted longer than their leases did. Where leases are renewed in
// the background it counts those during which somebody else was granted the key: no other shows
// that its lease was over.
func outlived(j *Judged) int64 {
	f := j.Verdicts.Cells().Sum(lockbench.Exclusion.At(lockbench.Outlived))
	if j.Header.Renews {
		return f.Violations
	}
	return f.Exposure
}

// Settle decides the limit by what its search came to, and says so.
func (l *LimitSearch) Settle(r limits.Result) {
	l.Value, l.Beyond, l.Confirmed, l.Tried = r.Limit, r.Beyond, r.Confirmed, r.Confirmed+r.Against
	l.AtLeast = l.Value > 0 && r.Why == limits.Unable
	for _, t := range l.Trials {
		if t.Value == l.Beyond && t.Outcome != limits.Holds {
			l.WhyBeyond = t.Why
		}
	}
	l.Unfinished = !r.Done
	switch {
	case l.Unfinished:
		l.Exit = Inconclusive
	case l.Value > 0:
		l.Exit = Passed
	case r.Why == limits.Fails:
		l.Exit = MissedTarget
	default:
		l.Exit = Inconclusive
	}
	l.Sentence = l.sentence()
	if c := l.SelfCheck; c != nil && !c.Caught {
		l.Exit = Inconclusive
		l.Sentence += " But a lock broken on purpose was not caught, so what held proves nothing."
	}
	if broken := l.broken(); len(broken) > 0 {
		l.Exit = BrokenClaim
		l.Sentence += fmt.Sprintf(" On the way it broke %s, which it claims.", strings.Join(broken, ", "))
	}
}

// broken lists the claims that any trial broke.
func (l *LimitSearch) broken() (all []string) {
	seen := map[lockbench.Cell]bool{}
	for _, t := range l.Trials {
		for _, cell := range t.Broken {
			if !seen[cell] {
				seen[cell] = true
				all = append(all, cell.String())
			}
		}
	}
	return all
}

// At renders a value in the unit of the limit.
func (l *LimitSearch) At(v float64) string {
	if l.Of == LeaseLimit {
		return time.Duration(v).String()
	}
	return figures.Rate(v) + "/s"
}

func (l *LimitSearch) sentence() string {
	switch {
	case len(l.Trials) == 0:
		return "Nothing was tried."
	case l.Unfinished:
		return fmt.Sprintf("%s: the search was ended before it found a limit that it could confirm.", l.Design)
	case l.Value == 0 && l.Beyond > 0:
		return fmt.Sprintf("%s: no limit was found. Even at %s %s.", l.Design, l.At(l.Beyond), l.WhyBeyond)
	case l.Of == LeaseLimit:
		return l.leaseSentence() + l.beyondSentence()
	}
	least := ""
	if l.AtLeast {
		least = "at least "
	}
	return fmt.Sprintf("%s takes %s%s: %s held and no claim was broken in %d of %s, %s.",
		l.Design, least, l.At(l.Value), strings.Join(l.Wanted, ", "), l.Confirmed, figures.Plural(int64(l.Tried), "run"), figures.Plural(l.grantsAt(l.Value), "grant")) + l.beyondSentence()
}

func (l *LimitSearch) leaseSentence() string {
	return fmt.Sprintf("%s: a lease of %s is enough. All %s that confirmed it ended within: with %g%% confidence at most one in %s outlives it.",
		l.Design, l.At(l.Value), figures.Plural(l.Holds, "hold"), l.Confidence*100, figures.Number(int64(1/l.Risk)))
}

func (l *LimitSearch) beyondSentence() string {
	if l.Beyond == 0 {
		return " Nothing further was tried."
	}
	return fmt.Sprintf(" At %s %s.", l.At(l.Beyond), l.WhyBeyond)
}

func (l *LimitSearch) grantsAt(value float64) (n int64) {
	for _, t := range l.Trials {
		if t.Value == value {
			n += t.Grants
		}
	}
	return n
}
