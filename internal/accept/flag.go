package accept

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/results"
)

// A Flag is --accept of lockbench run: the path of a file, empty for none.
type Flag struct{ path string }

// Add adds it to the flags of a command.
func (a *Flag) Add(f *pflag.FlagSet) {
	f.StringVar(&a.path, "accept", "", "YAML `file` of broken claims that fail nothing until a day: a list of design, cell, reason and until")
}

// Load reads the file, if there is one. The error names the fault of the file, or says that the run
// is to end at the first broken claim.
func (a *Flag) Load(failFast bool) ([]results.Acceptance, error) {
	if a.path != "" && failFast {
		return nil, errors.New("--accept and --fail-fast: a claim whose break is accepted would end the run; hint: leave one of them out")
	}
	return Load(a.path)
}
