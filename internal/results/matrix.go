package results

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/conclusion"
	"github.com/lockbench/lockbench/internal/runinfo"
)

// A Matrix says of every design which guarantees it kept, under which conditions, by all that was done to find
// out. Its JSON form is described by reports/schema/report-v3.json. It is not safe for
// concurrent use.
type Matrix struct {
	// Thresholds are the conditions that were to fail it; their readings count rows.
	Thresholds  []Threshold         `json:"thresholds,omitempty"`
	Settings    MatrixSettings      `json:"settings"`
	Environment runinfo.Environment `json:"environment"`
	Rows        []MatrixRow         `json:"rows"`
	// SelfCheck is a lock that is broken on purpose, treated like the designs.
	SelfCheck MatrixRow `json:"self_check"`
	// NotRun names what was planned and not done, "design: part".
	NotRun []string `json:"not_run,omitempty"`
	// Notes are remarks about the whole.
	Notes []string `json:"notes,omitempty"`
	// Exit is the exit code: 0, 1, 3 or 4.
	Exit int `json:"exit"`
}

// MatrixSettings are the settings by which the parts of a matrix were planned.
type MatrixSettings struct {
	Seed uint64 `json:"seed"`
	// BudgetNS is the time for all, in ns; Schedules bounds the exploration of each
	// design instead. Zero is no bound.
	BudgetNS  int64 `json:"budget_ns"`
	Schedules int64 `json:"schedules"`
	// Drivers are explore, live or both.
	Drivers []string `json:"drivers"`
	// Parts are those planned of each design, in their order.
	Parts []string `json:"parts"`
}

// A MatrixRow is one design.
type MatrixRow struct {
	Design  string `json:"design"`
	Source  string `json:"source,omitempty"`
	Library string `json:"library,omitempty"`
	// Version is that of the design's code, see [impls.Version].
	Version string `json:"version,omitempty"`
	// Claims are the claims of the design, with its exceptions and their reasons.
	Claims  lockbench.Claims              `json:"claims"`
	Without []MatrixOmission              `json:"without,omitempty"`
	Parts   []MatrixPart                  `json:"parts"`
	Cells   map[lockbench.Cell]MatrixCell `json:"cells"`
	// Conclusion is the conclusion about the design over the usual conditions; nil where none
	// was drawn.
	Conclusion *conclusion.Conclusion `json:"conclusion,omitempty"`
}

// A MatrixOmission is a part that is not for a design, and why.
type MatrixOmission struct {
	Part string `json:"part"`
	Why  string `json:"why"`
}

// A MatrixPart is one thing done to a design: its exploration, or a live run. It is flat, as the
// JSON object that it is written as.
type MatrixPart struct {
	Name string `json:"name"`
	// Command does it again.
	Command  string                  `json:"command"`
	Seed     uint64                  `json:"seed"`
	Params   map[string]any          `json:"params,omitempty"`
	Faults   []string                `json:"faults,omitempty"`
	Server   runinfo.Server          `json:"server"`
	Covered  []Covered               `json:"covered,omitempty"`
	Injected []runinfo.FaultExposure `json:"injected,omitempty"`
	// Grants are of the whole part.
	Grants    int64 `json:"grants"`
	ElapsedNS int64 `json:"elapsed_ns"`
	// Standstills are those of a live run, nil for none.
	Standstills *Standstills `json:"standstills,omitempty"`
	// Complete: it was not cut short.
	Complete bool `json:"complete"`
	// MustBreak is the cell that the lock which is broken on purpose has to break here, for the
	// others to be believed; empty for designs.
	MustBreak lockbench.Cell `json:"must_break,omitzero"`
	// Guarded are the findings on the guarded state where the store had a guard.
	Guarded Cells `json:"guarded,omitzero"`
	// Error and Defects make the part inconclusive, see [Run].
	Error   string   `json:"error,omitempty"`
	Defects []string `json:"defects,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	History string   `json:"history,omitempty"`
}

// Covered is the coverage of one scenario.
type Covered struct {
	Scenario string `json:"scenario"`
	Coverage
}

// A MatrixCell is the verdict on one cell of one design, by all parts together: the gravest
// of any, and the sums of what they counted. What is held in a part in which the lock that is
// broken on purpose was not caught counts as untested. What shows it is in the evidence.
type MatrixCell struct {
	Finding
	// By is the part that decided, empty for none.
	By       string     `json:"by,omitempty"`
	Evidence []Evidence `json:"evidence"`
}

// Evidence is the finding of one part on one cell.
type Evidence struct {
	Part string `json:"part"`
	// In are the scenarios, or the workload, with this verdict.
	In []string `json:"in"`
	Finding
}

// Add takes up what a part found of a design; what the same part found before is
// replaced.
func (r *MatrixRow) Add(p MatrixPart, found map[lockbench.Cell]Evidence) {
	r.drop(p.Name)
	r.Parts = append(r.Parts, p)
	if r.Cells == nil {
		r.Cells = make(map[lockbench.Cell]MatrixCell)
	}
	for cell, e := range found {
		c := r.Cells[cell]
		e.Part = p.Name
		c.Evidence = append(c.Evidence, e)
		r.Cells[cell] = c
	}
}

// drop forgets a part, and the cells of which no other says anything.
func (r *MatrixRow) drop(part string) {
	r.Parts = slices.DeleteFunc(slices.Clone(r.Parts), func(old MatrixPart) bool { return old.Name == part })
	cells := make(map[lockbench.Cell]MatrixCell)
	for cell, c := range r.Cells {
		c.Evidence = slices.DeleteFunc(slices.Clone(c.Evidence), func(e Evidence) bool { return e.Part == part })
		if len(c.Evidence) > 0 {
			cells[cell] = c
		}
	}
	r.Cells = cells
}

// Findings returns the findings on the design by all parts together.
func (r *MatrixRow) Findings() Cells {
	var all Cells
	for cell, c := range r.Cells {
		all.Set(cell, c.Finding)
	}
	return all
}

// Reason says why a cell is not claimed, empty where it is.
func (r *MatrixRow) Reason(cell lockbench.Cell) string { return Reason(&r.Claims, cell) }

// Has reports whether a part of that name is complete.
func (r *MatrixRow) Has(part string) bool {
	p := r.Part(part)
	return p != nil && p.Complete
}

// Part returns the part of that name, nil when there is none.
func (r *MatrixRow) Part(name string) *MatrixPart {
	for i := range r.Parts {
		if r.Parts[i].Name == name {
			return &r.Parts[i]
		}
	}
	return nil
}

// Lacks reports whether a part is not for the design.
func (r *MatrixRow) Lacks(part string) bool {
	return slices.ContainsFunc(r.Without, func(o MatrixOmission) bool { return o.Part == part })
}

// Row returns the row of a design, nil when there is none.
func (m *Matrix) Row(design string) *MatrixRow {
	for i := range m.Rows {
		if m.Rows[i].Design == design {
			return &m.Rows[i]
		}
	}
	return nil
}

// Settle decides every cell, what was not run, and the exit code, by what was added.
func (m *Matrix) Settle() {
	m.NotRun = nil
	unproven := make(map[string]bool)
	for _, part := range m.Settings.Parts {
		unproven[part] = !m.SelfCheck.Caught(part)
	}
	m.SelfCheck.settle(nil)
	for i := range m.Rows {
		r := &m.Rows[i]
		r.settle(unproven)
		for _, part := range m.Settings.Parts {
			if !r.Has(part) && !r.Lacks(part) {
				m.NotRun = append(m.NotRun, r.Design+": "+part)
			}
		}
	}
	m.Exit = m.exit()
}

// Caught reports whether the lock that is broken on purpose broke what it had to.
func (r *MatrixRow) Caught(part string) bool {
	p := r.Part(part)
	if p == nil {
		return false
	}
	return shows(r.found(part), p.MustBreak)
}

func (r *MatrixRow) settle(unproven map[string]bool) {
	cells := make(map[lockbench.Cell]MatrixCell)
	for cell, c := range r.Cells {
		c.settle(cell.Guarantee, unproven)
		cells[cell] = c
	}
	r.Cells = cells
}

// settle decides the cell of g by its evidence. A breach is shown by a counterexample: it
// needs no proof that it could have been seen.
func (c *MatrixCell) settle(g lockbench.Guarantee, unproven map[string]bool) {
	*c = MatrixCell{Evidence: c.Evidence}
	doubted := int64(0)
	for _, e := range c.Evidence {
		f := e.Finding
		f.Counterexample = nil
		if unproven[e.Part] && f.Verdict == checker.Held { // no occasion beside those of a part that is proven
			doubted += f.Exposure
			f.Verdict, f.Exposure = checker.Untested, 0
		}
		taken := c.By == ""
		if !taken {
			f, taken = c.Finding.join(g, f)
		}
		c.Finding = f
		if taken {
			c.By = e.Part
		}
	}
	if c.Verdict == checker.Untested {
		c.Exposure += doubted
	}
	c.Schedule, c.Scenarios = nil, nil
}

// exit is the exit code by the rules of [Result].
func (m *Matrix) exit() int {
	code := Passed
	if len(m.NotRun) > 0 || len(m.Rows) == 0 || len(m.Unproven()) > 0 {
		code = Inconclusive
	}
	for i := range m.Rows {
		code = worst(code, m.Rows[i].Exit())
	}
	return code
}

// Unproven lists the parts in which the lock that is broken on purpose was not
// caught, so that nothing that held there is believed.
func (m *Matrix) Unproven() []string {
	var parts []string
	for _, part := range m.Settings.Parts {
		if p := m.SelfCheck.Part(part); p != nil && !m.SelfCheck.Caught(part) {
			parts = append(parts, part)
		}
	}
	return parts
}

// Exit is the exit code of the design, by the rules of [Result].
func (r *MatrixRow) Exit() int {
	code := Passed
	if r.failed() {
		code = Inconclusive
	}
	return worst(code, r.Findings().Exit())
}
