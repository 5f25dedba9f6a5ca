package known

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/results"
)

// released has the row of each design as a JSON object on a line of its own, which begins with the
// design, so that a command decodes only the rows that it needs. The first part of a row is the live
// run without faults.
//
//go:embed released.jsonl
var released []byte

// row returns the row of a design, nil if there is none.
func row(design string) *results.MatrixRow {
	for line := range bytes.Lines(released) {
		if !bytes.HasPrefix(line, []byte(`{"design":"`+design+`",`)) {
			continue
		}
		var r results.MatrixRow
		if err := json.Unmarshal(line, &r); err != nil {
			panic(fmt.Sprintf("known: %s: %v", design, err)) // it is part of the program, and a test reads it
		}
		return &r
	}
	return nil
}

// Of returns the findings on a design that apply to a server: on the present version of the design
// only, and live runs only from the same kind and version of server. It returns nil for a lock that is
// no design of the catalogue.
func Of(design string, on runinfo.Server) *results.Known {
	r := row(design)
	if r == nil {
		if !slices.Contains(impls.Names(), design) {
			return nil
		}
		return &results.Known{Missing: "it is not in the released matrix"}
	}
	if now := impls.Version(design); now != r.Version {
		return &results.Known{Missing: fmt.Sprintf("the released matrix has version %s of it, and this is %s", r.Version, now)}
	}
	return onServer(r, on)
}

// Released returns all findings of the released matrix on the present version of a design, on the
// servers of the matrix, and false if there are none. The first part is the live run without faults.
func Released(design string) (*results.Known, bool) {
	r := row(design)
	if r == nil || r.Version != impls.Version(design) || len(r.Parts) == 0 {
		return nil, false
	}
	var server runinfo.Server
	for i := range r.Parts {
		if p := &r.Parts[i]; !p.Explored() {
			server = *p.Server
			break
		}
	}
	return onServer(r, server), true
}

// onServer returns the parts of a row that apply to a server. Explorations apply to any server that
// behaves like Redis, and so do parts with a guard, since a guard in the store stops the same
// writes on any server.
func onServer(r *results.MatrixRow, server runinfo.Server) *results.Known {
	known := &results.Known{Version: r.Version}
	for _, p := range r.Parts {
		if p.Explored() || p.Guard() != "" || p.Server.Version == server.Version {
			known.Parts = append(known.Parts, p)
		}
	}
	if len(known.Parts) == 0 {
		known.Missing = "the released matrix has nothing of it on " + server.Version
	}
	return known
}
