package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/cli/matrix"
	"github.com/lockbench/lockbench/internal/cli/progress"
	"github.com/lockbench/lockbench/internal/lib/suggest"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/results"
)

// matrixOptions are the flags of matrix.
type matrixOptions struct {
	commands  commandFlags
	budget    time.Duration
	schedules int64
	drivers   []string
	servers   []string
	seed      uint64
	history   string
	out       outFlags
	expect    string
	weaker    bool
	resume    string
	gate      gateOptions
	quiet     bool
}

func newMatrix() *cobra.Command {
	var o matrixOptions
	cmd := &cobra.Command{
		Use:   "matrix [DESIGN...]",
		Short: "Show which designs keep which guarantees, in one table",
		Long: `matrix runs designs on a real server, with and without faults, and explores their schedules in
virtual time. One table shows a conclusion about each design, in a word, and the worst verdicts:
a row for each design, a column for each condition. A cell is broken if any part breaks it.
Designs are names or globs (lockbench list designs), by default all, those of other libraries
included. An adapter adds its lock, or makes a matrix of its own if no design is named. Such a
lock has live runs only: exploration does not reach a program.

The designs share the time budget. Live runs come first, one at a time; exploration gets the
rest. Each part begins with a lock that is broken on purpose. If it is not caught, the
guarantees that were held in that part count as untested.

With --out json=FILE the matrix is written there after each part, and --resume FILE completes
it. lockbench explain shows the evidence for a cell. With --expect FILE the exit code says
whether a cell is worse than in that matrix, not whether a claim is broken; thresholds still
count. With --fail-if-weaker a claim that was held on enough occasions before must be again.

Ctrl-C ends the matrix and reports what was found; a second Ctrl-C aborts.`,
		Example: `  lockbench matrix
  lockbench matrix 'lua-token/*' --budget 1m --out markdown=matrix.md --out json=matrix.json
  lockbench matrix --resume matrix.json --out html=matrix.html
  lockbench matrix --adapter 'python3 my_lock.py' lua-token/strategy --budget 4m
  lockbench matrix --drivers explore --schedules 2000 --expect matrix.json
  lockbench matrix redislock/obtain --fail-if 'exclusion.violations>0'`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, designs []string) error {
			exit, err := o.matrix(cmd, designs)
			if err != nil {
				return err
			}
			return verdictOf(exit)
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

func (o *matrixOptions) flags(f *pflag.FlagSet) {
	o.sharedFlags(f)
	o.commands.addAdapter(f)
	o.out.add(f, matrixOutputs)
	o.gate.exploredFlags(f)
	f.StringVar(&o.expect, "expect", "", "compare with the matrix in this JSON `file`: exit 1 if a cell is worse")
	f.BoolVar(&o.weaker, "fail-if-weaker", false, "with --expect: exit 4 if a claimed cell was held on 299 occasions or more and now holds on fewer")
	f.StringVar(&o.resume, "resume", "", "complete the matrix in this JSON `file` and write it there")
}

// sharedFlags adds the flags that matrix and explain share.
func (o *matrixOptions) sharedFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.DurationVar(&o.budget, "budget", 5*time.Minute, "time for all designs together")
	f.Int64Var(&o.schedules, "schedules", 0, "number of schedules of each design to explore, the same on every machine (default as many as --budget allows)")
	f.StringSliceVar(&o.drivers, "drivers", []string{matrix.Live, matrix.Explore}, "`kinds` of runs, separated by commas: live, explore")
	serverFlag(f, &o.servers, "`URL` of the server of live runs")
	f.Uint64Var(&o.seed, "seed", 1, "seed of all random choices")
	f.StringVar(&o.history, "history", "", "save the histories of live runs in this `directory`")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print no progress on standard error")
}

// validate returns an error if a flag is wrong.
func (o *matrixOptions) validate(f *pflag.FlagSet) error {
	if o.budget <= 0 {
		return fmt.Errorf("--budget %v: too short; hint: a duration such as 5m", o.budget)
	}
	if f.Changed("schedules") && o.schedules < 1 {
		return fmt.Errorf("--schedules %d: nothing would be explored; hint: 1 or more, or leave it out for no limit", o.schedules)
	}
	if len(o.drivers) == 0 {
		return errors.New("--drivers: no driver is named; hint: live, explore or both")
	}
	known := []string{matrix.Live, matrix.Explore}
	for _, d := range o.drivers {
		if !slices.Contains(known, d) {
			return suggest.Unknown("driver", d, known)
		}
	}
	if o.weaker && o.expect == "" {
		return errors.New("--fail-if-weaker: there is no matrix to compare with; hint: --expect FILE")
	}
	return o.unread(f)
}

// unread returns the error for a flag that none of the drivers reads.
func (o *matrixOptions) unread(f *pflag.FlagSet) error {
	for name, driver := range map[string]string{"server": matrix.Live, "history": matrix.Live, "schedules": matrix.Explore} {
		if flag := f.Lookup(name); flag.Changed && !slices.Contains(o.drivers, driver) {
			return fmt.Errorf("--%s %s: it is for --drivers %s, which is not among the drivers; hint: leave one of them out", name, flag.Value, driver)
		}
	}
	return nil
}

// matrix makes the matrix, writes the result and returns the exit code.
func (o *matrixOptions) matrix(cmd *cobra.Command, names []string) (int, error) {
	if err := o.validate(cmd.Flags()); err != nil {
		return 0, err
	}
	out, err := o.out.parse(matrixOutputs)
	if err != nil {
		return 0, err
	}
	var expected *results.Matrix
	if o.expect != "" {
		if expected, err = readMatrix("--expect", o.expect); err != nil {
			return 0, err
		}
	}
	s, err := o.begin(cmd, names)
	if err != nil {
		return 0, err
	}
	if s.Gates, err = o.gate.thresholds(thresholds.Explored); err != nil {
		return 0, err
	}
	if err := inScope(s.Gates, rowNames(&s.Matrix)); err != nil {
		return 0, err
	}
	s.Files = append(s.Files, out.json()...)
	failed := s.Run(cmd.Context())
	if failed != nil && !slices.ContainsFunc(s.Matrix.Rows, func(r results.MatrixRow) bool { return len(r.Parts) > 0 }) {
		return 0, failed
	}
	if err := out.writeMatrix(cmd.OutOrStdout(), &s.Matrix, failed); err != nil || expected == nil {
		return s.Matrix.Exit, err
	}
	exit, err := o.compare(cmd, *expected, s.Matrix)
	return s.Matrix.Gated(exit), err
}

// begin plans the parts to do, of a new matrix or of the matrix in a file.
func (o *matrixOptions) begin(cmd *cobra.Command, names []string) (*matrix.Session, error) {
	var designs []design.Design
	if len(names) > 0 {
		var err error
		if designs, err = impls.Match(names...); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 && o.resume == "" {
		designs = impls.All()
	}
	designs, err := o.commands.with(cmd.Context(), designs, len(names) > 0)
	if err != nil {
		return nil, err
	}
	if err := o.reaches(designs); err != nil {
		return nil, err
	}
	if o.resume != "" {
		return o.resumed(cmd, designs)
	}
	return o.session(cmd, designs), nil
}

// reaches returns an error if the drivers cannot run a lock that the user gave.
func (o *matrixOptions) reaches(designs []design.Design) error {
	for _, d := range designs {
		if d.Arguments != "" && d.LiveOnly != "" && !slices.Contains(o.drivers, matrix.Live) {
			return fmt.Errorf("--drivers %s: %s cannot be explored: %s; hint: --drivers live", strings.Join(o.drivers, ","), d.Name, d.LiveOnly)
		}
	}
	return nil
}

// resumed plans the missing parts of the matrix in a file, for its own designs and for the named
// ones.
func (o *matrixOptions) resumed(cmd *cobra.Command, designs []design.Design) (*matrix.Session, error) {
	m, err := readMatrix("--resume", o.resume)
	if err != nil {
		return nil, err
	}
	for _, s := range []struct {
		name     string
		was, now any
	}{{"seed", m.Settings.Seed, o.seed}, {"schedules", m.Settings.Schedules, o.schedules}} {
		if cmd.Flags().Changed(s.name) && s.was != s.now {
			return nil, fmt.Errorf("--resume %s: it was made with --%s %v, not %v; hint: leave the flag out", o.resume, s.name, s.was, s.now)
		}
	}
	if !cmd.Flags().Changed("drivers") {
		o.drivers = m.Settings.Drivers
	}
	s, err := matrix.Resume(o.settings(), *m, designs, progress.OfParts(cmd.ErrOrStderr(), o.quiet))
	if err != nil {
		return nil, fmt.Errorf("--resume %s: %w", o.resume, err)
	}
	s.Files = []string{o.resume}
	return s, nil
}

// rowNames returns the designs of a matrix.
func rowNames(m *results.Matrix) (names []string) {
	for i := range m.Rows {
		names = append(names, m.Rows[i].Design)
	}
	return names
}

// readMatrix reads the file that a flag names.
func readMatrix(flag, path string) (*results.Matrix, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s %w; hint: lockbench matrix --out json=%s writes it", flag, err, path)
	}
	defer f.Close()
	m, err := results.ReadAs[*results.Matrix](f)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, path, err)
	}
	return m, nil
}

// compare reports the cells that are worse than expected. It ignores designs of this program that
// were not run.
func (o *matrixOptions) compare(cmd *cobra.Command, expected, m results.Matrix) (int, error) {
	expected.Rows = slices.DeleteFunc(slices.Clone(expected.Rows), func(r results.MatrixRow) bool {
		return m.Row(r.Design) == nil && slices.Contains(impls.Names(), r.Design)
	})
	c := results.CompareMatrices(expected, m)
	w := cmd.OutOrStdout()
	if o.out.replaced() {
		w = cmd.ErrOrStderr()
	}
	c.With = o.expect
	if o.weaker {
		c.FailWeaker()
	}
	_, err := fmt.Fprintln(w)
	return c.Exit, errors.Join(err, reports.Write(w, reports.Text, &c, terminalOptions(w)))
}

// session plans a new matrix of these designs.
func (o *matrixOptions) session(cmd *cobra.Command, designs []design.Design) *matrix.Session {
	return matrix.New(o.settings(), designs, progress.OfParts(cmd.ErrOrStderr(), o.quiet))
}

// settings returns the settings of the flags. Live runs have the options of a tour.
func (o *matrixOptions) settings() matrix.Settings {
	return matrix.Settings{
		Budget: o.budget, Schedules: o.schedules, Drivers: o.drivers, Servers: o.servers, Seed: o.seed, History: o.history,
		Load: tour(), Length: tour().Duration, Scope: newExploreOptions().config,
	}
}
