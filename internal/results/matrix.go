package results

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/conclusion"
	"github.com/lockbench/lockbench/internal/runinfo"
)

// A Matrix says of every design which guarantees it kept, under which conditions, by all that was done to find
// out. Its JSON form is described by reports/schema/report-v4.json. It is not safe for
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
	Claims  lockbench.Claims `json:"claims"`
	Without []MatrixOmission `json:"without,omitempty"`
	Parts   Parts            `json:"parts"`
	// Cells are the findings of all parts without a guard together: the gravest of any, and the
	// sums of their counts. Holds of a part in which the lock broken on purpose was not caught
	// count as untested. The parts have the counterexamples.
	Cells Cells `json:"cells"`
	// Conclusion is the conclusion about the design over the usual conditions; nil where none
	// was drawn.
	Conclusion *conclusion.Conclusion `json:"conclusion,omitempty"`
}

// A MatrixOmission is a part that is not for a design, and why.
type MatrixOmission struct {
	Part string `json:"part"`
	Why  string `json:"why"`
}

// Add adds a part. It replaces the part of that name, if there is one.
func (r *MatrixRow) Add(p Part) {
	r.drop(p.Name)
	r.Parts = append(r.Parts, p)
}

// AddExplored adds a part with the exploration of a design in its scenarios, at least one. The
// caller has set name, command and completeness.
func (r *MatrixRow) AddExplored(p Part, runs []Explored) {
	all := NewExploration(runs, nil)
	merged := byDesign(all).Runs[0]
	merged.Server = &runs[0].Header.Server
	r.Add(newPart(p, &merged))
}

// AddRun adds a part with a live run of a design. The caller has set name, command and
// completeness.
func (r *MatrixRow) AddRun(p Part, j *Judged) {
	run := newRun(j)
	server := j.Header.Server
	if server.Kind == "private" {
		server.Address = "" // it was there for this run only
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

// Reason says why a cell is not claimed, empty where it is.
func (r *MatrixRow) Reason(cell lockbench.Cell) string { return Reason(&r.Claims, cell) }

// Has reports whether a part of that name is complete.
func (r *MatrixRow) Has(part string) bool {
	p := r.Part(part)
	return p != nil && p.Complete
}

// Part returns the part of that name, nil when there is none.
func (r *MatrixRow) Part(name string) *Part { return r.Parts.Named(name) }

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
	return p != nil && catches(p.Cells.Cells, p.MustBreak)
}

// settle decides every cell by the parts. A counterexample shows a breach, so that a breach needs no
// proof that the part could have shown it.
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
			if f.Verdict == checker.Held { // no occasion beside those of a part that is proven
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
	return worst(code, r.Cells.Exit())
}
