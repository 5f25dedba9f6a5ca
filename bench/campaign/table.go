//go:build unix

package main

import (
	"errors"
	"fmt"
	"time"
)

// row counts runs of one kind.
type row struct {
	runs, failed, overlapping, accused, caught int
	stood                                      time.Duration
}

func (r *row) add(o *outcome) {
	r.runs++
	r.stood += o.Standstill
	accused := len(o.Against) > 0
	switch {
	case accused:
		r.accused++
	case o.Error != "":
		r.failed++
	}
	if o.Overlaps > 0 {
		r.overlapping++
		if accused {
			r.caught++
		}
	}
}

// report prints a row for each kind of lock and who stood still, and returns an error where a sound lock was accused.
func report(trials []trial, outcomes []outcome) error {
	fmt.Println("| locks | stands still | runs | stood still for | not judged | two inside | accused | of those with two inside |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	alarms := 0
	for _, mutant := range []bool{false, true} {
		for _, who := range []string{driver, server, both} {
			var r row
			for i := range trials {
				if trials[i].mutant == mutant && trials[i].who == who {
					r.add(&outcomes[i])
				}
			}
			name := "sound"
			if mutant {
				name = "mutants"
			} else {
				alarms += r.accused
			}
			fmt.Printf("| %s | %s | %d | %v | %d | %d | %d | %d |\n", name, who, r.runs, r.stood.Round(time.Second), r.failed, r.overlapping, r.accused, r.caught)
		}
	}
	if alarms > 0 {
		return errors.New("a sound lock was accused: see above")
	}
	return nil
}
