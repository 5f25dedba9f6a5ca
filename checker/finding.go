package checker

import (
	"encoding/json"
	"fmt"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/measure/series"
)

// A Verdict is the judgement on one guarantee, under some set of conditions.
type Verdict uint8

// The verdicts. The zero value is Untested, which is never success.
const (
	Untested      Verdict = iota // too little exposure to say
	Held                         // exposed, and never violated
	Broken                       // violated; there is a counterexample
	NotApplicable                // the design has no such ability
)

var verdictNames = [...]string{"untested", "held", "broken", "n/a"}

// String returns the verdict's name as reports show it.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("invalid(%d)", uint8(v))
}

// gravities orders verdicts. The graver of two stands for both.
var gravities = [...]int{Untested: 1, Held: 2, Broken: 3, NotApplicable: 0}

// Graver reports whether v is graver than other, and so stands for both: broken before held, then
// untested, then n/a.
func (v Verdict) Graver(other Verdict) bool { return gravities[v] > gravities[other] }

// MarshalText implements encoding.TextMarshaler.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *Verdict) UnmarshalText(b []byte) error {
	for i, n := range verdictNames {
		if n == string(b) {
			*v = Verdict(i)
			return nil
		}
	}
	return fmt.Errorf("%q is no verdict; hint: one of %q", b, verdictNames)
}

// A Finding is the verdict on one cell, a guarantee under an exact set of conditions, with its
// counts. The zero Finding is for a cell without exposure. Its JSON form is its form in reports.
type Finding struct {
	Verdict Verdict `json:"verdict"`
	// Claimed: the design claims the cell, and is held to it.
	Claimed bool `json:"claimed"`
	// Exercised: the workload and its faults can expose the cell.
	Exercised bool `json:"exercised"`
	// Exposure counts the occasions on which the guarantee could have been violated, and Violations
	// the occasions on which it was. If a fault of a server struck all keys at once and the
	// guarantee held, the strike counts as one occasion: a lock that survives one failover survived
	// one chance to fail, however many clients it had. Against counts the violations that count
	// against the claims: none if the cell is not claimed, and fewer than all if an unclaimed
	// guarantee may have been violated instead, or after an exception that lasts. An exploration
	// counts the schedules with a violation.
	Exposure   int64 `json:"exposure"`
	Violations int64 `json:"violations"`
	Against    int64 `json:"against"`
	// Questions counts the violations by the question that they answer; zero if all answer the
	// guarantee's own. [Finding.Asked] reads it.
	Questions ByQuestion `json:"questions,omitzero"`
	// Note adds to the numbers: why the cell is untested, or which slack was granted.
	Note string `json:"note,omitempty"`
	// Measures are figures by name ("overlap_p99_ns").
	Measures map[string]float64 `json:"measures,omitempty"`
	// Counterexample is the clearest violation; nil when there is none.
	Counterexample *Counterexample `json:"counterexample,omitempty"`
	// When counts the violations over time, by the time at which they became certain. It is not
	// part of the JSON form.
	When series.Counts `json:"-"`
}

// A CellFinding is the finding on one cell.
type CellFinding struct {
	Cell lockbench.Cell
	Finding
}

// ByQuestion counts violations by the [Question] that they answer. Its JSON form is an object with
// the counts that are not zero.
type ByQuestion [Questions]int64

// MarshalJSON implements json.Marshaler.
func (b ByQuestion) MarshalJSON() ([]byte, error) {
	counts := make(map[string]int64)
	for q, n := range b {
		if n > 0 {
			counts[Question(q).String()] = n
		}
	}
	return json.Marshal(counts)
}

// UnmarshalJSON implements json.Unmarshaler. It ignores unknown questions.
func (b *ByQuestion) UnmarshalJSON(text []byte) error {
	var counts map[string]int64
	if err := json.Unmarshal(text, &counts); err != nil {
		return err
	}
	*b = ByQuestion{}
	for q := range b {
		b[q] = counts[Question(q).String()]
	}
	return nil
}

// Asked returns the violations by question. f is a finding on g.
func (f *Finding) Asked(g lockbench.Guarantee) ByQuestion {
	all := f.Questions
	if f.Violations > 0 && all == (ByQuestion{}) {
		all[Asks(g)] = f.Violations
	}
	return all
}

// SetAsked sets the violations by question. f is a finding on g.
func (f *Finding) SetAsked(g lockbench.Guarantee, asked ByQuestion) {
	f.Questions = asked
	if f.Violations == 0 || asked[Asks(g)] == f.Violations {
		f.Questions = ByQuestion{}
	}
}

// Outweighs reports whether f is graver than other: by its verdict, or if verdicts are equal, since
// only f has violations that count against the claims.
func (f *Finding) Outweighs(other *Finding) bool {
	if f.Verdict != other.Verdict {
		return f.Verdict.Graver(other.Verdict)
	}
	return f.Against > 0 && other.Against == 0
}

// Join returns the findings f and other, both on one cell of g, as one. The graver, by
// [Finding.Outweighs], gives verdict, note, measures and counterexample; if none is graver, other
// does if tie is set. taken reports whether other did. Counts are added, so both must count the
// same unit: occasions or schedules.
func (f Finding) Join(g lockbench.Guarantee, other Finding, tie bool) (sum Finding, taken bool) {
	taken = other.Outweighs(&f) || tie && !f.Outweighs(&other)
	asked := f.Asked(g)
	for q, n := range other.Asked(g) {
		asked[q] += n
	}
	sum, more := f, other
	if taken {
		sum, more = other, f
	}
	sum.Claimed = sum.Claimed || more.Claimed
	sum.Exercised = sum.Exercised || more.Exercised
	sum.Exposure += more.Exposure
	sum.Violations += more.Violations
	sum.Against += more.Against
	sum.SetAsked(g, asked)
	return sum, taken
}
