package results

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockbench/lockbench/internal/lib/wholefile"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// The settings of percentile files: the number of steps per halving of the distance to 100%, and
// the unit of their values in ns. Plotting tools for this format expect ms.
const (
	hgrmTicks = 5
	hgrmUnit  = 1e6
)

// HGRM writes the latencies of the runs of r into the directory dir, which it creates if necessary:
// one HdrHistogram percentile file per run, phase and operation, with values in ms. The runs must
// be made of judged histories, by [New], and not read from a file. It returns the first error of
// the file system.
func HGRM(dir string, r *Result) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the directory for .hgrm files: %w", err)
	}
	names := make(map[string]int)
	for i := range r.Runs {
		run := &r.Runs[i]
		if err := hgrmRun(dir, Unique(names, FileName(run.Design)), &run.judged.Measures); err != nil {
			return err
		}
	}
	return nil
}

func hgrmRun(dir, name string, m *measure.Measures) error {
	for _, phase := range m.Phases() {
		for _, op := range measure.Ops() {
			l := phase.Latency(op)
			if l.Count() == 0 || op == measure.Service && !phase.OpenLoop() {
				continue // in a closed loop it equals acquire
			}
			path := filepath.Join(dir, fmt.Sprintf("%s.%s.%s.hgrm", name, phase.Name, op))
			if err := wholefile.Write(path, func(w io.Writer) error { return writePercentiles(w, l) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// writePercentiles writes l in the percentile format of HdrHistogram, with values in ms.
func writePercentiles(w io.Writer, l *measure.Latency) error {
	h := l.Histogram()
	if h == nil {
		return errors.New("write percentiles: nothing was measured")
	}
	_, err := h.PercentilesPrint(w, hgrmTicks, hgrmUnit)
	return err
}

// PartName returns the name of the file with the history of a share of a run.
func PartName(run string, share runinfo.Share) string {
	return fmt.Sprintf("%s.part-%d-of-%d.lbh", FileName(run), share.Index+1, share.Of)
}

// FileName returns name as a file name that every file system accepts: any character but ASCII
// letters, digits, dots, dashes and underscores becomes a dash.
func FileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._-", r):
			return r
		}
		return '-'
	}, name)
	if strings.Trim(safe, ".") == "" {
		return "unnamed"
	}
	return safe
}

// Unique returns name, with a number appended if given has it already, and counts it in given.
func Unique(given map[string]int, name string) string {
	given[name]++
	if n := given[name]; n > 1 {
		return fmt.Sprintf("%s-%d", name, n)
	}
	return name
}
