package results

import (
	"strings"

	"github.com/lockbench/lockbench/checker"
)

// Shown reports whether there is something to draw. What another cell's schedule explains has
// a sentence only.
func (f *Finding) Shown() bool {
	return f.Verdict == checker.Broken && (f.Counterexample != nil && len(f.Counterexample.Ops) > 0 || f.Schedule != nil)
}

// Quote makes a path one word of a command line.
func Quote(path string) string {
	if strings.ContainsAny(path, " \t'\"$&;()*?<>|\\") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
