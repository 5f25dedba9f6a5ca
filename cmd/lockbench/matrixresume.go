package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/reports"
)

// goOn plans what the matrix in a file lacks, of its own designs and of those named.
func (o *matrixOptions) goOn(cmd *cobra.Command, names []string) (*matrixSession, error) {
	m, err := readMatrix("--resume", o.resume)
	if err != nil {
		return nil, err
	}
	var designs []design.Design
	if len(names) > 0 {
		if designs, err = impls.Match(names...); err != nil {
			return nil, err
		}
	}
	for _, d := range impls.All() {
		known := slices.ContainsFunc(designs, func(named design.Design) bool { return named.Name == d.Name })
		if m.Row(d.Name) != nil && !known {
			designs = append(designs, d)
		}
	}
	if err := o.adopt(cmd.Flags(), m.Settings); err != nil {
		return nil, err
	}
	for _, d := range designs {
		if err := unchanged(d, m.Row(d.Name)); err != nil {
			return nil, fmt.Errorf("--resume %s: %w", o.resume, err)
		}
	}
	s := o.session(cmd, designs)
	*s = matrixSession{options: *o, designs: designs, progress: s.progress, matrix: *m, files: []string{o.resume}}
	s.plan()
	return s, nil
}

// adopt takes the settings of a matrix that is gone on with; those asked for must not
// differ.
func (o *matrixOptions) adopt(f *pflag.FlagSet, was reports.MatrixSettings) error {
	for _, s := range []struct {
		name     string
		was, now any
	}{{"seed", was.Seed, o.seed}, {"schedules", was.Schedules, o.schedules}} {
		if f.Changed(s.name) && s.was != s.now {
			return fmt.Errorf("--resume %s: it was made with --%s %v, not %v; hint: leave the flag out", o.resume, s.name, s.was, s.now)
		}
	}
	o.seed, o.schedules = was.Seed, was.Schedules
	if !f.Changed("drivers") {
		o.drivers = was.Drivers
	}
	return nil
}

// unchanged tells why what is in a row is of another design, by now.
func unchanged(d design.Design, r *reports.MatrixRow) error {
	switch {
	case r == nil:
		return nil
	case r.Library != d.Library:
		return fmt.Errorf("%s was %s, and is %s now; hint: begin anew, without --resume", d.Name, r.Library, d.Library)
	case !slices.Equal(r.Claims.Terms(), d.Claims.Terms()):
		return fmt.Errorf("%s claims something else by now; hint: begin anew, without --resume", d.Name)
	}
	return nil
}
