package known

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/results"
	"github.com/lockbench/lockbench/internal/runinfo"
)

//go:embed released.json
var released []byte

// A row has the findings on one design, by part.
type row struct {
	Design  string `json:"design"`
	Version string `json:"version"`
	Parts   []part `json:"parts"`
}

// A part is one run or exploration with its findings: only held and broken cells.
type part struct {
	Name    string         `json:"name"`
	Command string         `json:"command"`
	Server  runinfo.Server `json:"server"`
	// GrantsPerS is the number of grants per second in a live run.
	GrantsPerS float64 `json:"grants_per_s,omitempty"`
	// Cells are the findings, Guarded the findings on the guarded state behind a guard.
	Cells   map[lockbench.Cell]cell `json:"cells"`
	Guarded map[lockbench.Cell]cell `json:"guarded,omitempty"`
}

// A cell is a finding with its verdict, exposure and violations alone.
type cell struct {
	checker.Finding
	// After is the result of [results.Finding.After].
	After lockbench.Conditions `json:"after,omitzero"`
}

// MarshalJSON implements json.Marshaler. It omits all other fields, since the file is part of
// the program.
func (c cell) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Verdict    string               `json:"verdict"`
		Exposure   int64                `json:"exposure"`
		Violations int64                `json:"violations,omitempty"`
		After      lockbench.Conditions `json:"after,omitzero"`
	}{c.Verdict.String(), c.Exposure, c.Violations, c.After})
}

var rows = sync.OnceValue(func() []row {
	var all []row
	if err := json.Unmarshal(released, &all); err != nil {
		panic(fmt.Sprintf("known: %v", err)) // it is part of the program, and a test reads it
	}
	return all
})

// Of returns the findings on a design on a server: only of its present version, and only live
// runs on the same kind and version of server.
func Of(design string, on runinfo.Server) *results.KnownRow {
	for _, r := range rows() {
		if r.Design != design {
			continue
		}
		if now := impls.Version(design); now != r.Version {
			return &results.KnownRow{Missing: fmt.Sprintf("the released matrix has version %s of it, and this is %s", r.Version, now)}
		}
		return r.on(on)
	}
	return &results.KnownRow{Missing: "it is not in the released matrix"}
}

// Released returns the released matrix's findings on the present version of a design, on the
// matrix's servers; false if there are none.
func Released(design string) (*results.KnownRow, bool) {
	for _, r := range rows() {
		if r.Design == design && r.Version == impls.Version(design) && len(r.Parts) > 0 {
			return r.on(r.server()), true
		}
	}
	return nil, false
}

// server returns the server of the live parts.
func (r *row) server() runinfo.Server {
	for _, p := range r.Parts {
		if p.Name != explored {
			return p.Server
		}
	}
	return runinfo.Server{}
}

// GrantsPerS returns the grants per second of a design in the live run of the released
// matrix, with the same clients and machine for all designs; zero if unknown.
func GrantsPerS(design string) float64 {
	for _, r := range rows() {
		if r.Design == design && len(r.Parts) > 0 {
			return r.Parts[0].GrantsPerS
		}
	}
	return 0
}

// explored is the name of the part in virtual time, which holds for any server that behaves
// like Redis.
const explored = "explore"

func (r *row) on(server runinfo.Server) *results.KnownRow {
	known := &results.KnownRow{Version: r.Version, Cells: map[lockbench.Cell]results.KnownCell{}, Guarded: map[lockbench.Cell]results.KnownCell{}}
	for _, p := range r.Parts {
		if p.Name != explored && p.Server.Version != server.Version && len(p.Guarded) == 0 {
			continue // a guard in the store stops the same writes on any server
		}
		known.Parts = append(known.Parts, results.KnownPart{Name: p.Name, Command: p.Command, Server: p.Server})
		for at, found := range p.Cells {
			known.Cells[at] = together(at.Guarantee, known.Cells[at], found, len(known.Parts)-1)
		}
		for at, found := range p.Guarded {
			known.Guarded[at] = together(at.Guarantee, known.Guarded[at], found, len(known.Parts)-1)
		}
	}
	if len(known.Parts) == 0 {
		known.Missing = "the released matrix has nothing of it on " + server.Version
	}
	return known
}

// together merges the finding of a part on a cell of g with the parts before.
func together(g lockbench.Guarantee, known results.KnownCell, found cell, part int) results.KnownCell {
	sum, taken := known.Join(g, found.Finding, false)
	if taken {
		known.After, known.Part = found.After, part
	}
	known.Finding = sum
	return known
}
