//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// mostMemory is what lockbench may take at most, whatever it is given, in kB.
const mostMemory = 512 << 10

// A row is what happened of one kind.
type row struct {
	what                                             string
	tries, passed, accused, lost, left, hung, broken int
	memory                                           int64 // kB, the most
	examples                                         []string
}

// bad is how much went wrong.
func (r *row) bad() int {
	n := r.passed + r.accused + r.lost + r.left + r.hung + r.broken
	if r.memory > mostMemory {
		n++
	}
	return n
}

// note counts one more of a column, and keeps some examples.
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

// verdict is an error where anything went wrong, or nothing was tried.
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
