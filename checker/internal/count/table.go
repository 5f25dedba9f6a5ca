package count

import (
	"cmp"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/measure/series"
)

// Questions is the number of questions that violations can answer.
const Questions = 5

// A Table has the counts of one guarantee, a row for each exact set of conditions: one to six in a
// real run. A violation that may become a counterexample is a C. The zero Table is empty.
type Table[C any] struct {
	Rows    []Row[C]
	lastRow int // index of the result of the last At
}

// A Row has the counts of one cell, a guarantee under exactly these conditions.
type Row[C any] struct {
	Under lockbench.Conditions
	// Exposure counts the occasions, except occasions that were counted only as violations (see
	// Occasions). Violations counts the violations, and Against the violations that count against
	// the claims.
	Exposure, Violations, Against int64
	Asked                         [Questions]int64 // violations by question
	Broken                        []C
	When                          series.Counts // of violations
	Measured                      Durations     // the duration that the monitor of the guarantee measures
	news, newsAgainst             bool          // News has returned true of it with violations, and with some against the claims
}

// At returns the row of exactly these conditions, and makes it if needed. The pointer is valid
// until the next call.
func (t *Table[C]) At(under lockbench.Conditions) *Row[C] {
	if t.lastRow < len(t.Rows) && t.Rows[t.lastRow].Under == under {
		return &t.Rows[t.lastRow]
	}
	for i := range t.Rows {
		if t.Rows[i].Under == under {
			t.lastRow = i
			return &t.Rows[i]
		}
	}
	t.lastRow = len(t.Rows)
	if t.lastRow < cap(t.Rows) {
		t.Rows = t.Rows[:t.lastRow+1]
		t.Rows[t.lastRow] = Row[C]{Under: under, Broken: t.Rows[t.lastRow].Broken[:0]}
	} else {
		t.Rows = append(t.Rows, Row[C]{Under: under})
	}
	return &t.Rows[t.lastRow]
}

// Empty returns a table without rows that uses the memory of t.
func (t *Table[C]) Empty() Table[C] { return Table[C]{Rows: t.Rows[:0]} }

// Sort sorts the rows, those with fewer conditions first.
func (t *Table[C]) Sort() {
	slices.SortFunc(t.Rows, func(a, b Row[C]) int {
		return cmp.Or(cmp.Compare(a.Under.Count(), b.Under.Count()), cmp.Compare(a.Under, b.Under))
	})
}

// Absorb adds the counts of o, which are on other keys.
func (t *Table[C]) Absorb(o *Table[C]) {
	for i := range o.Rows {
		t.At(o.Rows[i].Under).absorb(&o.Rows[i])
	}
}

func (r *Row[C]) absorb(o *Row[C]) {
	r.Exposure += o.Exposure
	r.Violations += o.Violations
	r.Against += o.Against
	for q := range r.Asked {
		r.Asked[q] += o.Asked[q]
	}
	r.When.Merge(o.When)
	r.Measured.Absorb(o.Measured)
	r.Broken = append(r.Broken, o.Broken...)
}

// Keep leaves, in each row, the first n violations in this order.
func (t *Table[C]) Keep(n int, order func(a, b C) int) {
	for i := range t.Rows {
		r := &t.Rows[i]
		slices.SortStableFunc(r.Broken, order)
		r.Broken = r.Broken[:min(len(r.Broken), n)]
	}
}

// Occasions returns the number of occasions, counted as such or only as violations.
func (r *Row[C]) Occasions() int64 { return max(r.Exposure, r.Violations) }

// News reports whether r has violations, or violations against the claims, for the first time.
func (r *Row[C]) News() bool {
	is := r.Violations > 0 && !r.news || r.Against > 0 && !r.newsAgainst
	r.news, r.newsAgainst = r.news || is, r.newsAgainst || r.Against > 0
	return is
}

// WasNews reports whether News has returned true of r.
func (r *Row[C]) WasNews() bool { return r.news }
