//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
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

func (t *table) write(w io.Writer) error {
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
	_, err := io.WriteString(w, text.String())
	return err
}

// verdict returns an error if there was a forbidden result, or no trial.
func (t *table) verdict() error {
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
