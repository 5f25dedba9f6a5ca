package thresholds

import (
	"fmt"
	"path"
	"strings"
)

// A Threshold is a condition that fails a run if it holds.
type Threshold struct {
	// Scope limits the threshold to a design, or to the designs that match a pattern of package
	// path; empty for all.
	Scope string
	Comparison
}

// ParseThreshold parses "COMPARISON" or "SCOPE: COMPARISON". It returns the errors of
// [ParseComparison], or an error that names the scope.
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

// For reports whether the threshold applies to a design.
func (t Threshold) For(design string) bool {
	if t.Scope == "" {
		return true
	}
	ok, err := path.Match(t.Scope, design)
	return ok && err == nil
}

// String returns the threshold in a form that ParseThreshold accepts.
func (t Threshold) String() string {
	if t.Scope == "" {
		return t.Comparison.String()
	}
	return t.Scope + ": " + t.Comparison.String()
}

// An Outcome is the outcome of a threshold. The zero value is Inconclusive, which never counts as
// success.
type Outcome uint8

// The outcomes.
const (
	Inconclusive  Outcome = iota // the metric has no value
	Passed                       // the metric has a value, and the comparison does not hold
	Failed                       // the comparison holds
	NotApplicable                // the metric does not apply to the design
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

// Judge returns the outcome of the threshold for one run, to which it must apply, and the value of
// the metric.
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

// Together returns the outcome of a threshold over all judged runs: the worst outcome of a run. It
// is inconclusive if there are no runs, or the threshold applies to none.
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
