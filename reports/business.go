package reports

import (
	"slices"

	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// damageColumn returns the column with the damage of each run; none if no workload counts damage.
func (s *summary) damageColumn() []runColumn {
	counts := func(r results.Run) bool { return r.Business != nil }
	if !slices.ContainsFunc(s.result.Runs, counts) {
		return nil
	}
	return []runColumn{{document.Column{Name: s.damageName(), Number: true}, func(_ *summary, r *results.Run) document.Value {
		switch n := r.Damage(); {
		case r.Business == nil:
			return document.Value{Text: "-"}
		case r.Business.Why != "":
			return document.Value{Text: unknownFigure}
		case n > 0:
			return document.Value{Text: figures.Number(n), Tone: document.Weak}
		}
		return document.Value{Text: "0"}
	}}}
}

// damageName returns the name of the damage if all runs that count any count the same, else
// "damage".
func (s *summary) damageName() (name string) {
	for i := range s.result.Runs {
		its := s.result.Runs[i].DamageName()
		if name == "" {
			name = its
		}
		if its != "" && its != name {
			return "damage"
		}
	}
	if name == "" {
		return "damage"
	}
	return name
}

// controlNote returns a note that explains controls, if there are any.
func (s *summary) controlNote() []string {
	if !slices.ContainsFunc(s.result.Runs, func(r results.Run) bool { return r.Control != "" }) {
		return nil
	}
	return []string{"control: no lock; no-lock lets everybody in, atomic does each step in one request (grants are steps)"}
}

// business returns the outcome of each run in the terms of its workload.
func (s *summary) business() *document.List {
	l := &document.List{Title: "what the business came to"}
	for i := range s.result.Runs {
		run := &s.result.Runs[i]
		b := run.Business
		if b == nil {
			continue
		}
		item := document.Item{Name: s.label.Of(run), Text: b.Says}
		if b.Why != "" {
			item.Text, item.Tone = "nothing is known: "+b.Why, document.Weak
		}
		if run.Damage() > 0 {
			item.Tone = document.Weak
		}
		l.Items = append(l.Items, item)
	}
	return l
}
