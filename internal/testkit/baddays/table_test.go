//go:build linux

package baddays

import (
	"errors"
	"fmt"
	"strings"
)

// mostMemory bounds lockbench's memory for any input, in kB.
const mostMemory = 512 << 10

// A row counts the results of one kind of trial.
type row struct {
	what                                             string
	tries, passed, accused, lost, left, hung, broken int
	memory                                           int64 // kB, the maximum
	examples                                         []string
}

// bad is the number of forbidden results.
func (r *row) bad() int {
	n := r.passed + r.accused + r.lost + r.left + r.hung + r.broken
	if r.memory > mostMemory {
		n++
	}
	return n
}

// note adds one to a column, and keeps some examples.
func (r *row) note(column *int, format string, args ...any) {
	*column++
	if len(r.examples) < 3 {
		r.examples = append(r.examples, fmt.Sprintf(format, args...))
	}
}

type table struct{ rows []*row }

func (t *table) row(what string) *row {
	r := &row{what: what}
	t.rows = append(t.rows, r)
	return r
}

// String returns the table as Markdown, with the examples below it.
func (t *table) String() string {
	var text strings.Builder
	text.WriteString("| what happens | tries | passed | accused | results lost | left behind | hung | crashed | most memory, MB |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range t.rows {
		fmt.Fprintf(&text, "| %s | %d | %d | %d | %d | %d | %d | %d | %d |\n", r.what, r.tries, r.passed, r.accused, r.lost, r.left, r.hung, r.broken, r.memory>>10)
	}
	for _, r := range t.rows {
		for _, e := range r.examples {
			fmt.Fprintf(&text, "\n%s: %s\n", r.what, e)
		}
	}
	return text.String()
}

// verdict returns an error if there was a forbidden result, or a row has no trial.
func (t *table) verdict() error {
	if len(t.rows) == 0 {
		return errors.New("nothing was tried")
	}
	bad := 0
	for _, r := range t.rows {
		if r.tries == 0 {
			return fmt.Errorf("%s: tried nothing", r.what)
		}
		bad += r.bad()
	}
	if bad > 0 {
		return errors.New("something went wrong that must not")
	}
	return nil
}
