package main

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// row counts runs of one lock with one lease.
type row struct{ runs, accused, untested int }

func (r *row) add(t *trial) {
	if !t.done {
		return
	}
	r.runs++
	switch {
	case t.accused:
		r.accused++
	case t.untested:
		r.untested++
	}
}

// count counts the runs of l with leases of ttl, zero for all.
func count(trials []*trial, l lock, ttl time.Duration) (r row) {
	for _, t := range trials {
		if t.lock == l && (ttl == 0 || t.ttl == ttl) {
			r.add(t)
		}
	}
	return r
}

// enough is a number of runs in which a mutant is caught at least once, even on a busy machine.
const enough = 8

// report prints both tables, and returns an error if a sound lock was accused, or a mutant was
// never caught in enough runs.
func report(w io.Writer, trials []*trial) error {
	var all row
	var missed []error
	fmt.Fprintln(w, "| sound lock | lease | runs | accused | something untested |\n|---|---|---|---|---|")
	for _, l := range sound {
		for _, ttl := range leases {
			r := count(trials, l, ttl)
			fmt.Fprintf(w, "| %s | %v | %d | %d | %d |\n", l.name, ttl, r.runs, r.accused, r.untested)
			all.runs, all.accused, all.untested = all.runs+r.runs, all.accused+r.accused, all.untested+r.untested
		}
	}
	fmt.Fprintf(w, "| all | | %d | %d | %d |\n\n", all.runs, all.accused, all.untested)
	fmt.Fprintln(w, "| mutant | runs | caught |\n|---|---|---|")
	for _, l := range mutants {
		r := count(trials, l, 0)
		fmt.Fprintf(w, "| %s | %d | %d |\n", l.name, r.runs, r.accused)
		if r.runs >= enough && r.accused == 0 {
			missed = append(missed, fmt.Errorf("%q was caught in none of %d runs", l.name, r.runs))
		}
	}
	if all.accused > 0 {
		missed = append(missed, errors.New("a sound lock was accused: see above"))
	}
	return errors.Join(missed...)
}
