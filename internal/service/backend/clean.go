package backend

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/lockbench/lockbench/impls/design"
)

// ofRun matches the prefix of the names of one run, which package servers makes.
var ofRun = regexp.MustCompile(`^lockbench:[0-9a-f]{8}:`)

// Runs has the entries of runs on a service, by prefix, for [design.Listed].
type Runs map[string]*design.RunEntries

// Prefix returns the prefix of the run that a name belongs to, empty if it belongs to none.
func Prefix(name string) string { return ofRun.FindString(name) }

// Add adds entries under a name, last used idle ago. It does nothing if the name is not of a run.
func (r Runs) Add(name string, entries int, idle time.Duration) {
	prefix := Prefix(name)
	if prefix == "" {
		return
	}
	if r[prefix] == nil {
		r[prefix] = &design.RunEntries{Prefix: prefix, Idle: idle}
	}
	of := r[prefix]
	of.Entries, of.Idle = of.Entries+entries, min(of.Idle, idle)
}

// Sorted returns the entries of each run, sorted by prefix.
func (r Runs) Sorted() (all []design.RunEntries) {
	for _, prefix := range slices.Sorted(maps.Keys(r)) {
		all = append(all, *r[prefix])
	}
	return all
}

// A Cleaned describes the entries of a run, and whether [Clean] removed them.
type Cleaned struct {
	design.RunEntries
	Removed bool
}

// String describes the entries and what became of them.
func (c Cleaned) String() string {
	did := "left, since a run may use them"
	if c.Removed {
		did = "removed"
	}
	last := cmp.Or(c.Note, fmt.Sprintf("last used %v ago", c.Idle.Truncate(time.Second)))
	return fmt.Sprintf("%s* (entries: %d), %s: %s", c.Prefix, c.Entries, last, did)
}

// Clean removes the entries of ended runs from a service, of which nobody used any for at least idle, and
// nothing else. Its result is sorted by prefix.
func Clean(ctx context.Context, s design.Service, idle time.Duration) (all []Cleaned, err error) {
	listed, is := s.(design.Listed)
	if !is {
		return nil, fmt.Errorf("server %s: it does not tell which runs wrote to it; hint: remove by hand what begins with lockbench: and eight hexadecimal digits, while no run uses it", s.Address())
	}
	found, err := listed.Runs(ctx)
	if err != nil {
		return nil, fmt.Errorf("server %s: look for what runs left: %w", s.Address(), err)
	}
	for _, of := range found {
		c := Cleaned{RunEntries: of}
		if err == nil && of.Idle >= idle {
			_, err = s.Sweep(ctx, of.Prefix)
			c.Removed = err == nil
		}
		all = append(all, c)
	}
	return all, err
}
