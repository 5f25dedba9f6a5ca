package known

import (
	"bytes"
	_ "embed"
	"fmt"
	"sync"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/results"
)

//go:embed released.json
var released []byte

var rows = sync.OnceValue(func() []results.MatrixRow {
	m, err := results.ReadAs[*results.Matrix](bytes.NewReader(released))
	if err != nil {
		panic(fmt.Sprintf("known: %v", err)) // it is part of the program, and a test reads it
	}
	return m.Rows
})

// Of returns the findings on a design that apply to a server: on the present version of the design
// only, and live runs only from the same kind and version of server.
func Of(design string, on runinfo.Server) *results.Known {
	r := row(design)
	if r == nil {
		return &results.Known{Missing: "it is not in the released matrix"}
	}
	if now := impls.Version(design); now != r.Version {
		return &results.Known{Missing: fmt.Sprintf("the released matrix has version %s of it, and this is %s", r.Version, now)}
	}
	return onServer(r, on)
}

// row returns the row of a design, nil if there is none.
func row(design string) *results.MatrixRow {
	all := rows()
	for i := range all {
		if all[i].Design == design {
			return &all[i]
		}
	}
	return nil
}

// Released returns all findings of the released matrix on the present version of a design, on the
// servers of the matrix, and false if there are none.
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

// GrantsPerS returns the grants per second of a design in the live run of the released matrix; zero
// if unknown. The clients and the machine were the same for all designs.
func GrantsPerS(design string) float64 {
	if r := row(design); r != nil && len(r.Parts) > 0 {
		return r.Parts[0].GrantsPerS
	}
	return 0
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
