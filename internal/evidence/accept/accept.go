// Package accept reads files of accepted violations: the design and the cell, the reason, and the
// last day. A file of lockbench run --accept is about designs of the catalogue; one of locktest is
// about one lock, and names no design.
package accept

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/lib/runfile"
	"github.com/lockbench/lockbench/results"
)

// Load reads the file at a path; the empty path means no file, and accepts nothing. known returns an
// error for a design that nobody knows.
func Load(path string, known func(design string) error) ([]results.Acceptance, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--accept: %w; hint: docs/ci.md has an example", err)
	}
	defer f.Close()
	text, err := runfile.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("--accept %s: %w", path, err)
	}
	return Read(path, text, known)
}

// LoadLock reads the file at a path, about one lock.
func LoadLock(path string) ([]results.Acceptance, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w; hint: docs/testing.md has an example", err)
	}
	return read(path, text, keys(nil)[1:])
}

// Read reads the text of a file, a list in YAML. The error is of type [runfile.Problems], and names
// all faults with line and value.
func Read(name string, text []byte, known func(design string) error) ([]results.Acceptance, error) {
	return read(name, text, keys(known))
}

func read(name string, text []byte, keys []runfile.Key) ([]results.Acceptance, error) {
	items, err := runfile.ReadList(name, text, keys)
	if err != nil {
		return nil, err
	}
	var all []results.Acceptance
	var problems runfile.Problems
	first := make(map[[2]string]int)
	for _, item := range items {
		v := item.Values
		cell, err := lockbench.ParseCell(v["cell"])
		if err != nil {
			return nil, err
		}
		what := [2]string{v["design"], cell.String()}
		if line, twice := first[what]; twice {
			problems = append(problems, runfile.Problem{File: name, At: item.At,
				Err: fmt.Errorf("%s: line %d has it, too; hint: leave one of them out", strings.TrimSpace(what[0]+" "+what[1]), line)})
			continue
		}
		first[what] = item.At.Line
		all = append(all, results.Acceptance{
			Design: v["design"], Cell: cell, Reason: strings.Join(strings.Fields(v["reason"]), " "), Until: v["until"],
			Place: fmt.Sprintf("%s:%d", name, item.At.Line),
		})
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return all, nil
}

// keys are the keys of an item, all of them required, the design first.
func keys(known func(design string) error) []runfile.Key {
	return []runfile.Key{
		{Name: "design", Help: "a design or a glob, such as design: lua-token/*", Check: known},
		{Name: "cell", Help: "the broken cell as reports name it, such as cell: exclusion@crash", Check: func(text string) error {
			_, err := lockbench.ParseCell(text)
			return err
		}},
		{Name: "reason", Help: "the reason for accepting it, for readers of the report", Check: func(text string) error {
			if strings.TrimSpace(text) == "" {
				return errors.New("reason \"\": it is empty; hint: the reason for accepting it, for readers of the report")
			}
			return nil
		}},
		{Name: "until", Help: "the last day on which it is accepted, such as until: 2027-01-31", Check: func(text string) error {
			if _, err := time.Parse(time.DateOnly, text); err != nil {
				return fmt.Errorf("until %q: it is not a date; hint: the last day on which it is accepted, such as 2027-01-31", text)
			}
			return nil
		}},
	}
}
