package known

import (
	"bytes"
	"encoding/json"
	"math"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/results"
)

// condense returns the excerpt of a matrix that this package embeds.
func condense(m *results.Matrix) ([]byte, error) {
	var text bytes.Buffer
	rows := json.NewEncoder(&text)
	for i := range m.Rows {
		from := &m.Rows[i]
		r := results.MatrixRow{Design: from.Design, Version: from.Version}
		for j := range from.Parts {
			if p := &from.Parts[j]; p.Complete && p.Error == "" && len(p.Defects) == 0 {
				r.Parts = append(r.Parts, condensed(from, p, m.SelfCheck.Caught(p.Name)))
			}
		}
		if err := rows.Encode(r); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// condensed returns one part with the verdicts of its cells and their counts. It leaves out held
// cells if the part did not catch the lock that is broken on purpose.
func condensed(r *results.MatrixRow, p *results.Part, caught bool) results.Part {
	out := results.Part{Name: p.Name, Command: p.Command, Complete: true}
	out.Server, out.GrantsPerS = p.Server, math.Round(p.GrantsPerS)
	if guard := p.Guard(); guard != "" {
		out.Params = map[string]any{"guard": guard}
	}
	if x := p.Exploration; x != nil {
		out.Exploration = &results.Exploration{Coverage: results.Coverage{Schedules: x.Schedules}}
	}
	cells := make(map[lockbench.Cell]results.Finding)
	for at, f := range p.Cells.All() {
		if f.Verdict == checker.Broken || caught && f.Verdict == checker.Held && f.Exposure > 0 {
			cells[at] = results.Finding{
				Finding: checker.Finding{Verdict: f.Verdict, Exposure: f.Exposure, Violations: f.Violations},
				Shown:   results.Shown{After: f.Excused(&r.Claims, at)},
			}
		}
	}
	out.Cells = results.NewCells(cells)
	return out
}
