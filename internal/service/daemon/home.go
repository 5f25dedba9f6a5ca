package daemon

import "github.com/lockbench/lockbench/internal/lib/tempdir"

// NewHome makes a folder for a program in base, the system's if empty. Its name begins with prefix. Before
// that it removes those of killed processes and, on Linux, kills the programs that still run there: a
// child of a server that was suspended when lockbench was killed. It ignores failures to remove; the next
// start tries again.
func NewHome(base, prefix string) (*tempdir.Dir, error) {
	for _, left := range tempdir.Leftovers(base, prefix) {
		killBelow(left.Path)
		_ = left.Remove()
	}
	return tempdir.New(base, prefix)
}
