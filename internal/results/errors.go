package results

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/internal/figures"
	"github.com/lockbench/lockbench/internal/measure"
)

// An Error is all errors of one kind that one sort of operation met in a run.
type Error struct {
	// Op is the sort of operation, as histories name it; empty for those of which there were
	// too many kinds.
	Op string `json:"op,omitempty"`
	// Kind is the code of the server's reply ("NOPERM"), else a class in words.
	Kind string `json:"kind"`
	// Refusal: the server refused to run the command, whatever lock it is of.
	Refusal bool `json:"refusal,omitempty"`
	// Fault is the injected fault that brought them about, empty for none.
	Fault string `json:"fault,omitempty"`
	// Count is how many there were, Of how many operations of the sort there were in all.
	Count int64 `json:"count"`
	Of    int64 `json:"of"`
	// First are the words of the first, AtNS is when it was answered, in ns since the start.
	First string `json:"first"`
	AtNS  int64  `json:"at_ns"`
}

func newErrors(all []measure.Error) (out []Error) {
	for _, e := range all {
		one := Error{Kind: e.Kind, Refusal: e.Refusal, Fault: e.Fault, Count: e.Count, Of: e.Of, First: e.First, AtNS: e.At}
		if e.Op != 0 {
			one.Op = e.Op.String()
		}
		out = append(out, one)
	}
	return out
}

// Injected reports whether an injected fault brought the errors about.
func (e *Error) Injected() bool { return e.Fault != "" }

// words returns the text of the first error, or else the kind.
func (e *Error) words() string {
	if e.First == "" {
		return e.Kind
	}
	return e.First
}

// errorsOf adds up the errors of some runs, kind by kind: of the first run that met one are
// its words and its time.
func errorsOf(runs []observed) (sum []Error) {
	calls := make(map[string]int64)
	for _, o := range runs {
		asked := make(map[string]int64)
		for _, e := range o.run.Errors {
			asked[e.Op] = e.Of
			at := slices.IndexFunc(sum, func(s Error) bool { return s.Op == e.Op && s.Kind == e.Kind && s.Fault == e.Fault })
			if at < 0 {
				sum = append(sum, e)
				continue
			}
			sum[at].Count += e.Count
		}
		for op, n := range asked {
			calls[op] += n
		}
	}
	for i := range sum {
		sum[i].Of = calls[sum[i].Op]
	}
	return sum
}

// refusedOperation returns the operation that the server refused more often than not, with its
// counts: the run did not test it. Refusals by an injected fault do not count. It is empty if there is
// none.
func (r *RunRecord) refusedOperation() string {
	refused := make(map[string]int64)
	for i := range r.Errors {
		if e := &r.Errors[i]; e.Refusal && !e.Injected() {
			refused[e.Op] += e.Count
		}
	}
	at := slices.IndexFunc(r.Errors, func(e Error) bool { return e.Refusal && !e.Injected() && 2*refused[e.Op] > e.Of })
	if at < 0 {
		return ""
	}
	e := &r.Errors[at]
	return fmt.Sprintf("%s of %s %s calls: %s", figures.Number(refused[e.Op]), figures.Number(e.Of), e.Op, e.words())
}
