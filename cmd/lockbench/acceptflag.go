package main

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/accept"
	"github.com/lockbench/lockbench/internal/results"
)

// An acceptFlag is --accept: the path of a file, empty for none.
type acceptFlag struct{ path string }

func (a *acceptFlag) add(f *pflag.FlagSet) {
	f.StringVar(&a.path, "accept", "", "YAML `file` of accepted violations: broken claims that do not fail the run until a date; each has design, cell, reason and until")
}

// load reads the file, if there is one. It refuses --accept beside --fail-fast.
func (a *acceptFlag) load(failFast bool) ([]results.Acceptance, error) {
	if a.path != "" && failFast {
		return nil, errors.New("--accept and --fail-fast: an accepted violation would end the run; hint: leave one of them out")
	}
	return accept.Load(a.path)
}
