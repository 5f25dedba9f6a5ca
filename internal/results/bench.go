package results

import (
	"fmt"
	"io"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/lockbench/lockbench/internal/runinfo"
	"github.com/lockbench/lockbench/internal/thresholds"
)

// WriteBench writes the runs of a result in the Go benchmark format, one line for each, so that
// benchstat reads them: repetitions of one setting are lines of one name, in one file or
// several. It returns the first error of w.
func WriteBench(w io.Writer, r *Result) error {
	b := newBench(w)
	for _, g := range groups([]Result{*r}, Label{}) {
		for _, o := range g.runs {
			b.write(o, "")
		}
	}
	return b.err
}

// WriteBenchComparison writes what was compared in the Go benchmark format, with the side as
// file configuration: benchstat -col side FILE, and -row .name too for two designs.
func WriteBenchComparison(w io.Writer, c *Comparison) error {
	b := newBench(w)
	for _, d := range c.Designs {
		for _, o := range d.base {
			b.write(o, "base")
		}
		for _, o := range d.changed {
			b.write(o, "new")
		}
	}
	return b.err
}

// bench writes runs, and keeps the first error.
type bench struct {
	*benchfmt.Writer
	err error
}

func newBench(w io.Writer) *bench {
	b := &bench{Writer: benchfmt.NewWriter(w)}
	for _, f := range compared() {
		b.record(&benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: f.benchUnit(), Key: "better"}, OrigUnit: f.benchUnit(), Value: f.better()})
	}
	return b
}

func (b *bench) record(r benchfmt.Record) {
	if b.err == nil {
		b.err = b.Write(r)
	}
}

// write writes a run, unless its speed does not count.
func (b *bench) write(o observed, side string) {
	if !o.counts() {
		return
	}
	r := &benchfmt.Result{Name: benchfmt.Name(benchName(o)), Iters: int(o.run.Grants)}
	configure(r, o.server, o.env)
	if side != "" {
		r.SetConfig("side", side)
	}
	for i := range r.Config {
		r.Config[i].File = true
	}
	for _, f := range compared() {
		if v := f.of(o.run); v > 0 {
			r.Values = append(r.Values, benchfmt.Value{Value: v, Unit: f.benchUnit()})
		}
	}
	b.record(r)
}

func configure(r *benchfmt.Result, s runinfo.Server, e runinfo.Environment) {
	for _, c := range [][2]string{
		{"goos", e.OS}, {"goarch", e.Arch}, {"go", e.Go}, {"lockbench", e.Version}, {"server", s.Kind + " " + s.Version},
	} {
		r.SetConfig(c[0], c[1])
	}
}

// benchName is the design, the guard and the workload as a name of a benchmark; they have
// no slashes, which part its keys.
func benchName(o observed) string {
	parts := []string{"Lock", "design=" + FileName(o.run.Design), "workload=" + FileName(o.run.Workload)}
	if guard := o.run.Guard(); guard != "" {
		parts = append(parts, "guard="+guard)
	}
	for _, name := range []string{"clients", "keys"} {
		if v := Setting(o.run.Params, name); v != "" {
			parts = append(parts, name+"="+v)
		}
	}
	return fmt.Sprintf("%s-%d", strings.Join(parts, "/"), max(1, o.env.CPUs))
}

// benchUnit is the figure's name as a unit, of a form that benchstat scales.
func (f figureOf) benchUnit() string {
	switch f.unit {
	case thresholds.Duration:
		return strings.ReplaceAll(f.name, ".", "-") + "-ns"
	case thresholds.Rate:
		return "grants/s"
	}
	return strings.ReplaceAll(f.name, "_per_grant", "/grant")
}
