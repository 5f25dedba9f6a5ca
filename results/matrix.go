package results

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// A Matrix holds the findings on many designs, from live runs and explorations: the guarantees that
// each design kept or broke, by conditions. Build it with [MatrixRow.Add] and its like, then call
// [Matrix.Settle]. Its JSON form is described by reports/schema/report-v4.json. It is not safe for
// concurrent use while it is changed.
type Matrix struct {
	// Thresholds are the judged thresholds; [Reading.Run] is the index of a row.
	Thresholds  []Threshold         `json:"thresholds,omitempty"`
	Settings    MatrixSettings      `json:"settings"`
	Environment runinfo.Environment `json:"environment"`
	Rows        []MatrixRow         `json:"rows"`
	// SelfCheck is the row of a lock that is broken on purpose, with the same parts as a design.
	SelfCheck MatrixRow `json:"self_check"`
	// NotRun lists the planned parts that were not completed, as "design: part".
	NotRun []string `json:"not_run,omitempty"`
	// Notes are remarks about the whole matrix.
	Notes []string `json:"notes,omitempty"`
	// Exit is the exit code: [Passed], [BrokenClaim], [Inconclusive] or [FailedThreshold].
	Exit int `json:"exit"`
}

// MatrixSettings are the settings that the parts of a matrix were planned from. Seed determines all
// random choices.
type MatrixSettings struct {
	Seed uint64 `json:"seed"`
	// BudgetNS is the time for the whole matrix, in ns. Schedules bounds the exploration of each
	// design instead, by their number. Zero is no bound.
	BudgetNS  int64 `json:"budget_ns"`
	Schedules int64 `json:"schedules"`
	// Drivers are "explore", "live" or both.
	Drivers []string `json:"drivers"`
	// Parts are the names of the parts planned for each design, in order.
	Parts []string `json:"parts"`
}

// A MatrixRow holds the findings on one design. Source and Library describe where the design comes
// from, as in [design.Design].
type MatrixRow struct {
	Design  string `json:"design"`
	Source  string `json:"source,omitempty"`
	Library string `json:"library,omitempty"`
	// Version is the version of the design's code, see [impls.Version].
	Version string `json:"version,omitempty"`
	// Claims are the claims of the design, with their exceptions and reasons. Without lists the
	// parts that do not apply to the design.
	Claims  lockbench.Claims `json:"claims"`
	Without []MatrixOmission `json:"without,omitempty"`
	Parts   Parts            `json:"parts"`
	// Cells are the combined findings of all parts without a guard: on each cell the gravest
	// verdict, and the sums of the counts. A cell held in a part counts as untested if the
	// self-check of the part was not caught. Counterexamples are in the parts only.
	Cells Cells `json:"cells"`
	// Conclusion is the conclusion on the design under the usual conditions; nil if none was drawn.
	Conclusion *conclusion.Conclusion `json:"conclusion,omitempty"`
}

// A MatrixOmission is a part that does not apply to a design, with the reason.
type MatrixOmission struct {
	Part string `json:"part"`
	Why  string `json:"why"`
}

// Add adds a part, in place of the part of the same name if there is one.
func (r *MatrixRow) Add(p Part) {
	r.drop(p.Name)
	r.Parts = append(r.Parts, p)
}

// AddExplored adds the part p with the exploration of a design in at least one scenario. The caller
// has set Name, Command and Complete of p.
func (r *MatrixRow) AddExplored(p Part, runs []Explored) {
	all := NewExploration(runs, nil)
	merged := byDesign(all).Runs[0]
	merged.Server = &runs[0].Header.Server
	r.Add(newPart(p, &merged))
}

// AddRun adds the part p with a live run of a design. The caller has set Name, Command and Complete
// of p.
func (r *MatrixRow) AddRun(p Part, j *Judged) {
	run := newRun(j)
	server := j.Header.Server
	if server.Kind == "private" {
		server.Address = "" // the server existed for this run only
	}
	run.Server = &server
	if run.Error == "" {
		run.Error = run.serverProblem()
	}
	if unmet := run.ineffectiveFaults(); len(unmet) > 0 {
		run.Notes = append(slices.Clone(run.Notes), "fault "+unmet[0].Kind+" met no lock")
	}
	r.Add(newPart(p, &run))
}

func (r *MatrixRow) drop(part string) {
	r.Parts = slices.DeleteFunc(slices.Clone(r.Parts), func(old Part) bool { return old.Name == part })
}

// Reason returns the reason why cell is not claimed, empty if it is.
func (r *MatrixRow) Reason(cell lockbench.Cell) string { return Reason(&r.Claims, cell) }

// Has reports whether r has a complete part of this name.
func (r *MatrixRow) Has(part string) bool {
	p := r.Part(part)
	return p != nil && p.Complete
}

// Part returns the part of this name, nil if there is none.
func (r *MatrixRow) Part(name string) *Part { return r.Parts.Named(name) }

// Lacks reports whether a part does not apply to the design.
func (r *MatrixRow) Lacks(part string) bool {
	return slices.ContainsFunc(r.Without, func(o MatrixOmission) bool { return o.Part == part })
}

// Row returns the row of a design, nil if there is none.
func (m *Matrix) Row(design string) *MatrixRow {
	for i := range m.Rows {
		if m.Rows[i].Design == design {
			return &m.Rows[i]
		}
	}
	return nil
}

// Settle sets the cells of every row, NotRun and Exit from the parts. Call it after the last part
// was added.
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

// Caught reports whether the lock of the row, which is broken on purpose, broke the MustBreak cell
// of a part.
func (r *MatrixRow) Caught(part string) bool {
	p := r.Part(part)
	return p != nil && catches(p.Cells.Cells, p.MustBreak)
}

// settle sets r.Cells from the parts. unproven are the parts without a caught self-check: cells
// held there count as untested. Cells broken there stay broken, since a counterexample needs no
// further proof.
func (r *MatrixRow) settle(unproven map[string]bool) {
	parts := slices.Clone(r.Parts)
	doubted := make(map[lockbench.Cell]int64)
	for i := range parts {
		p := &parts[i]
		if p.Guard() != "" || !unproven[p.Name] {
			continue
		}
		cells := Cells{Cells: make(checker.Cells)}
		for cell, f := range p.Cells.All() {
			if f.Verdict == checker.Held { // its occasions must not add to the occasions of a proven part
				doubted[cell] += f.Exposure
				f.Verdict, f.Exposure = checker.Untested, 0
			}
			cells.Set(cell, f)
		}
		p.Cells = cells
	}
	sum := parts.Together(false)
	for cell, f := range sum.All() {
		if f.Verdict == checker.Untested {
			f.Exposure += doubted[cell]
		}
		f.Counterexample = nil
		f.Shown = Shown{Part: f.Part}
		sum.Set(cell, f)
	}
	r.Cells = sum
}

// exit returns the exit code of the matrix, by the rules of [Result].
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

// Unproven lists the parts in which the lock broken on purpose was not caught, so that the cells
// held there prove nothing.
func (m *Matrix) Unproven() []string {
	var parts []string
	for _, part := range m.Settings.Parts {
		if p := m.SelfCheck.Part(part); p != nil && !m.SelfCheck.Caught(part) {
			parts = append(parts, part)
		}
	}
	return parts
}

// Exit returns the exit code of the design, by the rules of [Result].
func (r *MatrixRow) Exit() int {
	code := Passed
	if r.failed() {
		code = Inconclusive
	}
	return worst(code, r.Cells.Exit())
}
