package results

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/measure/limits"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// The kinds of limit.
const (
	RateLimit  = "rate"  // the highest rate of arrivals that is safe, per second
	LeaseLimit = "lease" // the shortest lease that no hold outlives, in ns
)

// MissedTarget is the exit code of a search that found no limit, because even the easiest value
// missed a condition.
const MissedTarget = 4

// A LimitSearch is the result of a search for a limit of a design: the furthest value, of a rate or
// of a lease, at which the design meets all conditions. A value is harder than another if it is a
// higher rate or a shorter lease. A LimitSearch is not safe for concurrent use.
type LimitSearch struct {
	LimitQuestion
	LimitAnswer

	Trials    []LimitTrial `json:"trials"`
	SelfCheck *SelfCheck   `json:"self_check,omitempty"`
	// Sentence states the result in one or two sentences.
	Sentence string `json:"sentence"`
	// Exit is the exit code: [Passed] if a limit was found, [BrokenClaim] if a trial broke a claim,
	// [MissedTarget] if even the easiest value missed a condition, and [Inconclusive] if the search
	// shows nothing.
	Exit int `json:"exit"`
}

// A LimitQuestion describes a search for a limit: the design and the settings of all trials, as in
// a [Run].
type LimitQuestion struct {
	Design string `json:"design"`
	// Of is the kind of limit, RateLimit or LeaseLimit.
	Of          string              `json:"of"`
	Workload    string              `json:"workload"`
	Params      map[string]any      `json:"params"`
	Seed        uint64              `json:"seed"`
	Server      runinfo.Server      `json:"server"`
	Environment runinfo.Environment `json:"environment"`
	// Wanted are the conditions that every trial had to meet, in addition to the claims of the
	// design.
	Wanted []string `json:"wanted"`
}

// A LimitAnswer is the limit that was found, with its confidence.
type LimitAnswer struct {
	// Value is the limit, per second for a rate and in ns for a lease; zero if none was found.
	Value float64 `json:"value"`
	// Beyond is the nearest harder value that missed a condition, zero if none did. WhyBeyond is
	// the condition that it missed.
	Beyond    float64 `json:"beyond"`
	WhyBeyond string  `json:"why_beyond,omitempty"`
	// AtLeast reports whether the design may do better than Value: the trials themselves could not
	// go further, as when the machine cannot offer a higher rate, or the time is over.
	AtLeast bool `json:"at_least,omitempty"`
	// OutOfTime reports whether the search ended early, so that Value may be further from Beyond than
	// was asked.
	OutOfTime bool `json:"out_of_time,omitempty"`
	// Unfinished reports whether the search was ended before it could narrow down and confirm the
	// value.
	Unfinished bool `json:"unfinished,omitempty"`
	// Confirmed is the number of trials at Value that met all conditions, and Tried the number of
	// all trials at Value.
	Confirmed int `json:"confirmed"`
	Tried     int `json:"tried"`
	// Holds is the number of holds in the confirming trials of a lease. All of them ended within
	// it. With confidence Confidence, at most the share Risk of all holds outlives the lease. Both
	// are between 0 and 1.
	Holds      int64   `json:"holds,omitempty"`
	Confidence float64 `json:"confidence,omitempty"`
	Risk       float64 `json:"risk,omitempty"`
}

// A LimitTrial is one run of a search for a limit. Value is in the unit of the limit.
type LimitTrial struct {
	Value   float64        `json:"value"`
	Outcome limits.Outcome `json:"outcome"`
	// Why is the condition that the trial missed, empty if it met all.
	Why string `json:"why,omitempty"`
	// Longest is the duration of the longest hold, in ns. Outlived is the number of holds that
	// outlived their lease. Both are of the whole run, while the latencies of Run are of its measured
	// part.
	Longest  int64 `json:"longest_hold_ns"`
	Outlived int64 `json:"outlived"`
	// Run is the run. It has the server and environment of the search.
	Run Run `json:"run"`
}

// NewLimitTrial returns the trial of value that the run j was. The caller sets Outcome and Why.
func NewLimitTrial(value float64, j *Judged) LimitTrial {
	return LimitTrial{
		Value:    value,
		Longest:  int64(max(j.Measures.Measured.Latency(measure.Hold).Max(), j.Measures.Warmup.Latency(measure.Hold).Max())),
		Outlived: outlived(j),
		Run:      newRun(j),
	}
}

// Broken returns the claims that the trial broke.
func (t *LimitTrial) Broken() []lockbench.Cell { return t.Run.Cells.Cells.Against() }

// outlived returns the number of holds that outlived their leases. If leases are renewed in the
// background, only a grant of the key to another client shows that a lease was over, so it counts
// the holds with such a grant.
func outlived(j *Judged) int64 {
	f := j.Verdicts.Cells().Sum(lockbench.Exclusion.At(lockbench.Outlived))
	if j.Header.Renews {
		return f.Violations
	}
	return f.Exposure
}

// Settle sets the answer, the sentence and the exit code from the result r of the search.
func (l *LimitSearch) Settle(r limits.Result) {
	l.Value, l.Beyond, l.Confirmed, l.Tried = r.Limit, r.Beyond, r.Confirmed, r.Confirmed+r.Against
	l.OutOfTime = r.Early
	l.AtLeast = l.Value > 0 && (r.Why == limits.Unable || l.OutOfTime && l.Beyond == 0)
	for i := range l.Trials {
		if t := &l.Trials[i]; t.Value == l.Beyond && t.Outcome != limits.Holds {
			l.WhyBeyond = t.Why
		}
	}
	l.Unfinished = !r.Done
	switch {
	case l.Unfinished, l.Value == 0 && l.OutOfTime:
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

// broken returns the claims that any trial broke, each once.
func (l *LimitSearch) broken() (all []string) {
	seen := map[lockbench.Cell]bool{}
	for i := range l.Trials {
		for _, cell := range l.Trials[i].Broken() {
			if !seen[cell] {
				seen[cell] = true
				all = append(all, cell.String())
			}
		}
	}
	return all
}

// At formats a value in the unit of the limit.
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
	case l.Unfinished && l.Value > 0:
		return fmt.Sprintf("%s: %s held, and the search was ended before it could narrow that down and confirm it.", l.Design, l.At(l.Value)) + l.beyondSentence()
	case l.Unfinished:
		return fmt.Sprintf("%s: the search was ended before it found a limit.", l.Design) + l.beyondSentence()
	case l.Value == 0 && l.OutOfTime:
		return fmt.Sprintf("%s: no limit was found in time; hint: a larger --budget, or another first value.", l.Design) + l.beyondSentence()
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
	text := " Nothing further was tried."
	if l.Beyond > 0 {
		text = fmt.Sprintf(" At %s %s.", l.At(l.Beyond), l.WhyBeyond)
	} else if t := l.missed(); t != nil {
		text = fmt.Sprintf(" At %s, which was not tried often enough to say, %s.", l.At(t.Value), t.Why)
	}
	if l.OutOfTime && l.Value > 0 {
		text += " The time was over before the limit was as precise as asked; hint: a larger --budget."
	}
	return text
}

// missed returns the last trial that missed a condition at another value than the limit, nil if none
// did.
func (l *LimitSearch) missed() *LimitTrial {
	for i := len(l.Trials) - 1; i >= 0; i-- {
		if t := &l.Trials[i]; t.Outcome != limits.Holds && t.Value != l.Value {
			return t
		}
	}
	return nil
}

// grantsAt returns the number of grants in all trials of value.
func (l *LimitSearch) grantsAt(value float64) (n int64) {
	for i := range l.Trials {
		if t := &l.Trials[i]; t.Value == value {
			n += t.Run.Counts.Grants
		}
	}
	return n
}
