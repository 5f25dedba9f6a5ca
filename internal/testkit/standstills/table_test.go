//go:build unix

package standstills

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// A row counts runs of one kind.
type row struct {
	runs, unjudged, overlapping, accused, caught, defects int
	grants                                                int64
	stood                                                 time.Duration
}

// add counts a run. One that ended with an error, such as out of memory, and accuses no lock counts
// as not judged.
func (r *row) add(o *outcome) {
	accused := len(o.Against) > 0
	r.runs++
	r.stood += o.Standstill
	if o.Error != "" && !accused {
		r.unjudged++
		return
	}
	r.grants += o.Grants
	if accused {
		r.accused++
	}
	if len(o.Defects) > 0 {
		r.defects++
	}
	if o.Overlaps > 0 {
		r.overlapping++
		if accused {
			r.caught++
		}
	}
}

// plus is the sum of two rows.
func (r row) plus(s row) row {
	return row{
		runs: r.runs + s.runs, unjudged: r.unjudged + s.unjudged, overlapping: r.overlapping + s.overlapping,
		accused: r.accused + s.accused, caught: r.caught + s.caught, defects: r.defects + s.defects,
		grants: r.grants + s.grants, stood: r.stood + s.stood,
	}
}

// A table has a row for each kind of lock and each party that stood still.
type table struct{ sound, mutants map[string]row }

func tableOf(trials []trial, outcomes []outcome) table {
	t := table{map[string]row{}, map[string]row{}}
	for i := range trials {
		of := t.sound
		if trials[i].mutant {
			of = t.mutants
		}
		r := of[trials[i].who]
		r.add(&outcomes[i])
		of[trials[i].who] = r
	}
	return t
}

// String returns the table as Markdown.
func (t table) String() string {
	var text strings.Builder
	text.WriteString("| locks | stands still | runs | stood still for | not judged | two inside | accused | of those with two inside |\n|---|---|---|---|---|---|---|---|\n")
	for _, kind := range []struct {
		name string
		rows map[string]row
	}{{"sound", t.sound}, {"mutants", t.mutants}} {
		for _, who := range []string{driver, server, both} {
			r := kind.rows[who]
			fmt.Fprintf(&text, "| %s | %s | %d | %v | %d | %d | %d | %d |\n", kind.name, who, r.runs, r.stood.Round(time.Second), r.unjudged, r.overlapping, r.accused, r.caught)
		}
	}
	return text.String()
}

func total(rows map[string]row) (sum row) {
	for _, r := range rows {
		sum = sum.plus(r)
	}
	return sum
}

// least is the percentage of runs with two owners inside in which a mutant must be caught.
const least = 95

// verdict returns an error for results that must not occur: a sound lock was accused, mutants were
// missed although two were inside, or nothing was judged.
func (t table) verdict() error {
	sound, mutants := total(t.sound), total(t.mutants)
	var errs []error
	if sound.accused > 0 {
		errs = append(errs, fmt.Errorf("sound locks were accused in %d of %d runs; hint: the lines above name their histories", sound.accused, sound.runs))
	}
	if sound.defects > 0 {
		errs = append(errs, fmt.Errorf("lockbench contradicts itself in %d of %d runs of sound locks; hint: the lines above name their histories", sound.defects, sound.runs))
	}
	if mutants.caught*100 < mutants.overlapping*least {
		errs = append(errs, fmt.Errorf("mutants were caught in %d of %d runs in which two were inside, less than %d %%", mutants.caught, mutants.overlapping, least))
	}
	switch {
	case sound.grants == 0 || sound.stood == 0:
		errs = append(errs, fmt.Errorf("runs of sound locks show nothing: %d of %d judged, %d grants, stood still for %v", sound.runs-sound.unjudged, sound.runs, sound.grants, sound.stood))
	case mutants.overlapping == 0:
		errs = append(errs, fmt.Errorf("runs of mutants show nothing: %d of %d judged, two inside in none; hint: more runs", mutants.runs-mutants.unjudged, mutants.runs))
	}
	return errors.Join(errs...)
}
