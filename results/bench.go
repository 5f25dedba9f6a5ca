package results

import (
	"fmt"
	"io"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
)

// WriteBench writes the runs of r in the Go benchmark format, one line each, for benchstat. Runs of
// one design and setting have the same benchmark name, within one file and across files. WriteBench
// returns the first error of w.
func WriteBench(w io.Writer, r *Result) error {
	b := newBench(w)
	for _, g := range groups([]Result{*r}, Label{}) {
		for _, o := range g.runs {
			b.write(o, "")
		}
	}
	return b.err
}

// WriteBenchComparison writes the runs of both sides of c in the Go benchmark format, with the
// side, base or new, as file configuration. Read the file with benchstat -col side, and with -row
// .name as well if two designs were compared. It returns the first error of w.
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

// A bench writes benchmark records, and keeps the first error.
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

// write writes a run as one line, unless its speed does not count, see [observed.counts].
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

// benchName returns the benchmark name of a run: its design, guard, workload and point. Slashes
// separate the parts of such a name, so FileName removes them from the values.
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

// benchUnit returns the unit under which a figure is written. Its form lets benchstat recognize and
// scale it.
func (f figureOf) benchUnit() string {
	switch f.unit {
	case thresholds.Duration:
		return strings.ReplaceAll(f.name, ".", "-") + "-ns"
	case thresholds.Rate:
		return "grants/s"
	}
	return strings.ReplaceAll(f.name, "_per_grant", "/grant")
}
