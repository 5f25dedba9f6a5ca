package thresholds

import (
	"fmt"
	"path"
	"strings"
)

// A Threshold fails the runs for which its comparison holds.
type Threshold struct {
	// Scope is the design that it is for, or a glob of package path; empty for all.
	Scope string
	Comparison
}

// ParseThreshold reads a comparison, or "SCOPE: COMPARISON". The error is that of
// [ParseComparison], or says what is wrong with the scope.
func ParseThreshold(text string) (Threshold, error) {
	scope, condition := "", text
	if at := strings.LastIndex(text, ":"); at >= 0 {
		scope, condition = strings.TrimSpace(text[:at]), text[at+1:]
		if scope == "" {
			return Threshold{}, fmt.Errorf("threshold %q: no design before the colon; hint: 'lua-token/*: acquire.p99>20ms', or no colon for all designs", text)
		}
	}
	if _, err := path.Match(scope, ""); err != nil {
		return Threshold{}, fmt.Errorf("threshold %q: scope %q: %w; hint: a design, or a glob such as lua-token/*", text, scope, err)
	}
	c, err := ParseComparison(strings.TrimSpace(condition))
	return Threshold{Scope: scope, Comparison: c}, err
}

// For reports whether the threshold is for a design.
func (t Threshold) For(design string) bool {
	if t.Scope == "" {
		return true
	}
	ok, err := path.Match(t.Scope, design)
	return ok && err == nil
}

// String writes the threshold so that ParseThreshold reads the same again.
func (t Threshold) String() string {
	if t.Scope == "" {
		return t.Comparison.String()
	}
	return t.Scope + ": " + t.Comparison.String()
}

// An Outcome is what a threshold came to. The zero value is Inconclusive, which is
// never success.
type Outcome uint8

// The outcomes.
const (
	Inconclusive  Outcome = iota // the metric had no value
	Passed                       // measured, and the comparison did not hold
	Failed                       // it held
	NotApplicable                // the metric is not for the design
)

var outcomeNames = [...]string{"inconclusive", "passed", "failed", "n/a"}

// String returns the name under which reports show o.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return fmt.Sprintf("invalid(%d)", uint8(o))
}

// MarshalText implements encoding.TextMarshaler.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Outcome) UnmarshalText(b []byte) error {
	for i, n := range outcomeNames {
		if n == string(b) {
			*o = Outcome(i)
			return nil
		}
	}
	return fmt.Errorf("%q is no outcome of a threshold; hint: one of %q", b, outcomeNames)
}

// Judge decides the threshold for one run, whose design it is for.
func (t Threshold) Judge(r *Run) (Outcome, Reading) {
	reading := t.Metric.Read(r)
	switch {
	case reading.Foreign:
		return NotApplicable, reading
	case reading.Why != "":
		return Inconclusive, reading
	case t.Holds(reading.Value):
		return Failed, reading
	}
	return Passed, reading
}

// Together is the outcome of a threshold over all runs that it was judged for: the
// worst of them. For none, or none that it applied to, it is inconclusive.
func Together(outcomes ...Outcome) Outcome {
	total := NotApplicable
	for _, o := range outcomes {
		switch {
		case o == Failed:
			return Failed
		case o == Inconclusive, total == NotApplicable:
			total = o
		}
	}
	if total == NotApplicable {
		return Inconclusive
	}
	return total
}
