package known

import (
	"encoding/json"
	"math"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/results"
)

// condense returns the excerpt of a matrix that this package keeps.
func condense(m *results.Matrix) ([]byte, error) {
	var all []row
	for i := range m.Rows {
		from := &m.Rows[i]
		r := row{Design: from.Design, Version: from.Version}
		for _, p := range from.Parts {
			if p.Complete && p.Error == "" && len(p.Defects) == 0 {
				r.Parts = append(r.Parts, condensed(from, &p, m.SelfCheck.Caught(p.Name)))
			}
		}
		all = append(all, r)
	}
	return json.MarshalIndent(all, "", " ")
}

// condensed returns one part. It leaves out held cells if the part did not catch the lock that
// is broken on purpose.
func condensed(r *results.MatrixRow, p *results.MatrixPart, caught bool) part {
	out := part{Name: p.Name, Command: p.Command, Server: p.Server, GrantsPerS: speed(p), Cells: map[lockbench.Cell]cell{}}
	keep := func(into map[lockbench.Cell]cell, at lockbench.Cell, f *results.Finding) {
		if f.Verdict == checker.Broken || caught && f.Verdict == checker.Held && f.Exposure > 0 {
			into[at] = cell{checker.Finding{Verdict: f.Verdict, Exposure: f.Exposure, Violations: f.Violations}, f.After(&r.Claims, at)}
		}
	}
	for at, f := range p.Guarded.All() {
		if out.Guarded == nil {
			out.Guarded = map[lockbench.Cell]cell{}
		}
		keep(out.Guarded, at, &f)
	}
	for at := range r.Cells {
		for _, e := range r.Cells[at].Evidence {
			if e.Part == p.Name {
				keep(out.Cells, at, &e.Finding)
			}
		}
	}
	return out
}

// speed returns the grants per second of a live run, zero for other parts.
func speed(p *results.MatrixPart) float64 {
	if len(p.Covered) > 0 || p.ElapsedNS == 0 {
		return 0
	}
	return math.Round(float64(p.Grants) / float64(p.ElapsedNS) * 1e9)
}
