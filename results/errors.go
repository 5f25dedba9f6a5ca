package results

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/internal/measure"
)

// An Error counts the errors of one kind that one type of operation met in a run.
type Error struct {
	// Op is the type of operation, as named in histories; empty for the sum of further kinds if
	// there are too many.
	Op string `json:"op,omitempty"`
	// Kind is the error code of the server's reply, as "NOPERM", or else a class of errors in
	// words.
	Kind string `json:"kind"`
	// Refusal reports whether the server refused to run a command, for a reason that has nothing to
	// do with the lock, such as missing permission.
	Refusal bool `json:"refusal,omitempty"`
	// Fault is the injected fault that caused the errors, empty for none.
	Fault string `json:"fault,omitempty"`
	// Count is the number of such errors, and Of the number of operations of the type.
	Count int64 `json:"count"`
	Of    int64 `json:"of"`
	// First is the text of the first such error, and AtNS its time, in ns since the start of the
	// run.
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

// Injected reports whether an injected fault caused the errors.
func (e *Error) Injected() bool { return e.Fault != "" }

// words returns the text of the first error, or the kind if there is no text.
func (e *Error) words() string {
	if e.First == "" {
		return e.Kind
	}
	return e.First
}

// errorsOf adds up the errors of some runs by operation, kind and fault. The text and time come
// from the first run that met the error.
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

// refusedOperation returns the counts, the name and the first error of an operation that the server
// refused in more than half of its calls, so that the run did not test it. Refusals caused by an
// injected fault do not count. It returns "" if there is no such operation.
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
