package explore

import (
	"fmt"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// witnesses shrinks what was found, and shows it.
func (x *explorer) witnesses() {
	x.result.Witnesses = map[lockbench.Guarantee]Witness{}
	for _, g := range lockbench.Guarantees() {
		if f, ok := x.found[g.Name]; ok {
			small := x.shrink(g.Name, f.verdict, candidate{x.cfg, f.choices})
			x.result.Witnesses[g.Name] = x.show(g.Name, f, small)
		}
	}
	for _, w := range x.others {
		x.result.Defects = append(x.result.Defects, w.defects...)
	}
}

// show runs the schedule once more to write it down.
func (x *explorer) show(g lockbench.Guarantee, f failure, small candidate) Witness {
	out := Witness{Guarantee: g, Verdict: f.verdict, FoundAt: f.at, FoundAfter: f.after}
	w, err := x.worldFor(small.cfg)
	if err != nil {
		x.defect("witness of %s: %v", g, err)
		return out
	}
	follow := &guided{wishes: small.choices}
	follow.begin()
	p, err := w.perform(follow)
	if err != nil {
		x.defect("witness of %s: %v", g, err)
		return out
	}
	finding := p.judged.Find(g)
	if f.verdict.Graver(finding.Verdict) {
		x.defect("schedule %d had %s %s; run again it is %s", f.at, g, f.verdict, finding.Verdict)
	}
	for _, d := range p.judged.Defects {
		x.defect("%s", d)
	}
	out.Verdict, out.Rows, out.Sentence = finding.Verdict, p.notes.rows, w.sentence(finding)
	s := script{
		cfg: small.cfg, design: x.cfg.Design.Name, breaks: g, verdict: finding.Verdict,
		comment: out.Sentence, lines: p.notes.lines,
	}
	out.Replay = Replay{s.text()}
	return out
}

func (x *explorer) defect(format string, args ...any) {
	x.result.Defects = append(x.result.Defects, fmt.Sprintf(format, args...))
}

// A performance is a schedule run to be shown.
type performance struct {
	judged checker.Result
	notes  *notes
}

// perform runs one schedule, taking notes, and judges it at length.
func (w *world) perform(s halting) (performance, error) {
	w.notes = &notes{}
	p := performance{notes: w.notes}
	defer func() { w.notes = nil }()
	defer w.end()
	ended, err := w.run(s)
	if err != nil {
		return p, err
	}
	if s.halts() {
		p.notes.lines = append(p.notes.lines, line{actor: alone[verbStop], verb: verbStop})
	}
	if ended || s.halts() {
		if err := w.finish(); err != nil {
			return p, err
		}
	}
	p.judged = w.explained()
	return p, nil
}

// A halting strategy may end a schedule where it is to end.
type halting interface {
	strategy
	halts() bool
}

func (g *guided) halts() bool   { return g.halted }
func (r *replayed) halts() bool { return r.halted }
