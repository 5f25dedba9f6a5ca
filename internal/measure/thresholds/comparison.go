package thresholds

import (
	"errors"
	"fmt"
	"strings"
)

// A Relation compares a value with a bound.
type Relation string

// The relations. Equality is useful only for counts: measured figures are equal by luck.
const (
	Above    Relation = ">"
	AtLeast  Relation = ">="
	Below    Relation = "<"
	AtMost   Relation = "<="
	Equal    Relation = "=="
	NotEqual Relation = "!="
)

// relations are sorted so that none is a prefix of a later one.
var relations = []Relation{AtLeast, AtMost, Equal, NotEqual, Above, Below}

// A Comparison is a condition on one metric, such as acquire.p99>20ms.
type Comparison struct {
	Metric   Metric
	Relation Relation
	// Bound is in the metric's unit, ns for durations.
	Bound float64
}

// ParseComparison parses a metric, a relation and a value, with or without blanks between them. The
// error names the wrong part, with a hint: similar names for an unknown metric, and the form for a
// value of the wrong unit.
func ParseComparison(text string) (Comparison, error) {
	name, relation, bound, err := split(text)
	if err != nil {
		return Comparison{}, fmt.Errorf("condition %q: %w", text, err)
	}
	m, err := Find(name)
	if err != nil {
		return Comparison{}, fmt.Errorf("condition %q: %w", text, err)
	}
	if (relation == Equal || relation == NotEqual) && m.Unit != Count {
		return Comparison{}, fmt.Errorf("condition %q: %s is measured, so that equality would be luck; hint: compare it by >, >=, < or <=", text, name)
	}
	v, err := m.Unit.parse(bound)
	if err != nil {
		return Comparison{}, fmt.Errorf("condition %q: %w, and %s takes a %s; hint: %s%s%s", text, err, name, m.Unit, name, relation, examples[m.Unit])
	}
	return Comparison{Metric: m, Relation: relation, Bound: v}, nil
}

// split returns the parts of the text of a comparison.
func split(text string) (name string, relation Relation, bound string, err error) {
	at := strings.IndexAny(text, "<>=!")
	if at < 0 {
		return "", "", "", errors.New("nothing is compared; hint: METRIC>VALUE, such as acquire.p99>20ms")
	}
	for _, r := range relations {
		if after, found := strings.CutPrefix(text[at:], string(r)); found {
			return strings.TrimSpace(text[:at]), r, strings.TrimSpace(after), nil
		}
	}
	return "", "", "", fmt.Errorf("%q is no comparison; hint: one of >, >=, <, <=, == and !=", text[at:at+1])
}

// Holds reports whether the condition holds for a value of the metric.
func (c Comparison) Holds(value float64) bool {
	switch c.Relation {
	case Above:
		return value > c.Bound
	case AtLeast:
		return value >= c.Bound
	case Below:
		return value < c.Bound
	case AtMost:
		return value <= c.Bound
	case Equal:
		return value == c.Bound
	case NotEqual:
		return value != c.Bound
	}
	return false
}

// CanSettle reports whether the condition, once it holds during a run, is certain to hold at its
// end.
func (c Comparison) CanSettle() bool {
	return c.Metric.Rises && (c.Relation == Above || c.Relation == AtLeast || c.Relation == NotEqual && c.Bound == 0)
}

// String returns the comparison in a form that ParseComparison accepts.
func (c Comparison) String() string {
	return c.Metric.Name + string(c.Relation) + c.Metric.Unit.text(c.Bound)
}

func unknown(name string, near []string) error {
	if len(near) > 0 {
		return fmt.Errorf("unknown metric %q; hint: did you mean %s? lockbench list metrics has all", name, strings.Join(near, ", "))
	}
	return fmt.Errorf("unknown metric %q; hint: lockbench list metrics has all", name)
}
