package results

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// A Part is a run together with its purpose: one part of a matrix, or an exploration beside another
// run. If the design was explored, its run combines all scenarios.
//
// Its JSON form has the settings, counts and cells of the run, but not its latencies.
type Part struct {
	// Name is the name of the part in the plan of a matrix, as "live faults".
	Name string
	// Command is the command line that repeats the part, empty if there is none.
	Command string
	// Complete reports whether the part ran to its end.
	Complete bool
	// MustBreak is the cell that the lock broken on purpose has to break in this part; if it does
	// not, the cells that designs held in the part prove nothing. It is zero in a part of a design.
	MustBreak lockbench.Cell
	Run
}

// A Covered is the coverage of one scenario.
type Covered struct {
	Scenario string `json:"scenario"`
	Coverage
}

// Explored reports whether the part is an exploration.
func (p *Part) Explored() bool { return p.Exploration != nil }

// Covered returns the coverage of each scenario of an exploration, nil for a live run.
func (p *Part) Covered() []Covered {
	if p.Exploration == nil {
		return nil
	}
	return p.Exploration.Scenarios
}

// Scenarios returns the scenarios in which the part made the finding f, or the workload of a live
// run.
func (p *Part) Scenarios(f *Finding) []string {
	if len(f.Scenarios) == 0 {
		return []string{p.Workload}
	}
	return f.Scenarios
}

// Problem returns the reason why the part proves nothing, empty if it does prove something.
func (p *Part) Problem() string {
	problems := slices.Clone(p.Defects)
	if p.Error != "" {
		problems = slices.Insert(problems, 0, p.Error)
	}
	if len(problems) == 0 && p.Counts.Grants == 0 {
		return "no lock was granted"
	}
	return strings.Join(problems, "; ")
}

// Parts are parts of one design. Parts with a guard in the store are kept apart from the others,
// since a guard refuses writes that the lock alone would let through.
type Parts []Part

// Named returns the part of this name, nil if there is none.
func (all Parts) Named(name string) *Part {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}

// On returns, in order, the parts without a guard that have a finding on cell.
func (all Parts) On(cell lockbench.Cell) (found []*Part) {
	for i := range all {
		if _, has := all[i].Cells.Cells[cell]; has && all[i].Guard() == "" {
			found = append(found, &all[i])
		}
	}
	return found
}

// Together returns the combined findings of all parts with a guard, or of all parts without one.
// [Shown.Part] names the part with the gravest finding on a cell.
func (all Parts) Together(guarded bool) Cells {
	var sum Cells
	for i := range all {
		p := &all[i]
		if (p.Guard() != "") != guarded {
			continue
		}
		for cell, f := range p.Cells.All() {
			f.Part = p.Name
			sum.join(cell, f)
		}
	}
	return sum
}

// Shows returns the command that repeats the part with the gravest finding on cell, empty if there
// is none. It considers parts without a guard only.
func (all Parts) Shows(cell lockbench.Cell) string {
	if p := all.Named(all.Together(false).Shown[cell].Part); p != nil {
		return p.Command
	}
	return ""
}

// Schedules returns the number of schedules of all explorations.
func (all Parts) Schedules() (n int64) {
	for i := range all {
		if x := all[i].Exploration; x != nil {
			n += x.Schedules
		}
	}
	return n
}

// Evidence returns the findings of each part as evidence for conclusions. Exceptions in claims may
// excuse broken cells, see [Finding.Excused].
func (all Parts) Evidence(source conclusion.Source, claims *lockbench.Claims) []conclusion.Evidence {
	evidence := make([]conclusion.Evidence, len(all))
	for i := range all {
		p := &all[i]
		evidence[i] = p.found(source, claims)
		evidence[i].Guarded = p.Guard() != ""
		evidence[i].Shows = func(lockbench.Cell) string { return p.Command }
	}
	return evidence
}

// newPart returns p with a run, and of its cells those that had an occasion. If the store had a
// guard, only findings on the guarded store are kept, except for the lock broken on purpose.
func newPart(p Part, run *Run) Part {
	cells := withOccasions(run.Cells)
	p.Run = *run
	p.Cells = Cells{Cells: make(checker.Cells)}
	for cell, f := range cells.All() {
		if cell.Guarantee == lockbench.Effects || run.Guard() == "" || p.MustBreak.Guarantee != "" {
			p.Cells.Set(cell, f)
		}
	}
	return p
}

// withOccasions returns the findings on cells that had an occasion or were meant to. It drops the
// counterexample of a cell under several conditions if another cell explains it.
func withOccasions(all Cells) Cells {
	found := Cells{Cells: make(checker.Cells)}
	for cell, f := range all.All() {
		if f.Verdict == checker.Untested && !f.Exercised {
			continue
		}
		if _, explained := all.Explained(cell); explained && cell.Under.Count() > 1 {
			f.Counterexample, f.Schedule = nil, nil
		}
		found.Set(cell, f)
	}
	return found
}

// proven returns p if its self-check was caught; else it returns p with its broken cells only.
func (p Part) proven(caught bool) Part {
	if !caught {
		p.Cells.Cells = maps.Clone(p.Cells.Cells)
		maps.DeleteFunc(p.Cells.Cells, func(_ lockbench.Cell, f checker.Finding) bool { return f.Verdict != checker.Broken })
	}
	return p
}

// A partFile is the JSON form of a Part.
type partFile struct {
	Name        string                  `json:"name"`
	Command     string                  `json:"command"`
	Workload    string                  `json:"workload,omitempty"`
	Seed        uint64                  `json:"seed"`
	Params      map[string]any          `json:"params,omitempty"`
	Faults      []string                `json:"faults,omitempty"`
	Server      *runinfo.Server         `json:"server,omitempty"`
	Covered     []Covered               `json:"covered,omitempty"`
	Injected    []runinfo.FaultExposure `json:"injected,omitempty"`
	Grants      int64                   `json:"grants"`
	GrantsPerS  float64                 `json:"grants_per_s,omitempty"`
	Schedules   int64                   `json:"schedules,omitempty"`
	ElapsedNS   int64                   `json:"elapsed_ns"`
	Standstills *Standstills            `json:"standstills,omitempty"`
	Complete    bool                    `json:"complete"`
	MustBreak   lockbench.Cell          `json:"must_break,omitzero"`
	Cells       Cells                   `json:"cells"`
	Error       string                  `json:"error,omitempty"`
	Defects     []string                `json:"defects,omitempty"`
	Notes       []string                `json:"notes,omitempty"`
	History     string                  `json:"history,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (p Part) MarshalJSON() ([]byte, error) {
	f := partFile{
		Name: p.Name, Command: p.Command, Workload: p.Workload, Seed: p.Seed, Params: p.Params, Faults: p.Faults, Server: p.Server,
		Covered: p.Covered(), Injected: p.Injected, Grants: p.Counts.Grants, GrantsPerS: p.GrantsPerS, ElapsedNS: p.MeasuredNS,
		Standstills: p.Standstills, Complete: p.Complete, MustBreak: p.MustBreak, Cells: p.Cells,
		Error: p.Error, Defects: p.Defects, Notes: p.Notes, History: p.History,
	}
	if x := p.Exploration; x != nil {
		f.Schedules, f.ElapsedNS = x.Schedules, x.Timings.Elapsed
	}
	return json.Marshal(f)
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Part) UnmarshalJSON(text []byte) error {
	var f partFile
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	*p = Part{Name: f.Name, Command: f.Command, Complete: f.Complete, MustBreak: f.MustBreak, Run: Run{
		RunSettings: RunSettings{Workload: f.Workload, Seed: f.Seed, Params: f.Params, Faults: f.Faults, Injected: f.Injected, Server: f.Server},
		RunFigures:  RunFigures{MeasuredNS: f.ElapsedNS, GrantsPerS: f.GrantsPerS, Counts: Counts{Grants: f.Grants}, Standstills: f.Standstills},
		Cells:       f.Cells,
		RunRecord:   RunRecord{Error: f.Error, Defects: f.Defects, Notes: f.Notes, History: f.History},
	}}
	if f.Schedules > 0 || len(f.Covered) > 0 {
		p.MeasuredNS = 0
		p.Exploration = &Exploration{Coverage: Coverage{Schedules: f.Schedules}, Timings: Timings{Elapsed: f.ElapsedNS}, Scenarios: f.Covered}
	}
	return nil
}
