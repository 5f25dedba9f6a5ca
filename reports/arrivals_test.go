package reports

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/results"
)

// openLoop returns a run of n arrivals, a millisecond apart, each begun 3 ms late with an
// acquire of 0.1 ms. Its trailer has the arrivals told.
func openLoop(n int64, told runinfo.Arrivals) results.Judged {
	j := judged(header("lua-token/token", "private"), n)
	j.Header.Params["rate"], j.Header.Params["arrival"] = 1000.0, "poisson"
	j.Verdicts.Refused = 0
	c := measure.New(j.Header)
	for i := range n {
		at := 100*ms + i*ms
		op := &history.Op{Kind: history.Acquire, Outcome: history.OK, Key: "stock-1", Hold: i + 1, Attempts: 1, Intended: at, Call: at + 3*ms, Return: at + 3*ms + ms/10}
		c.Add(history.Event{Phase: history.Call, Op: op})
		c.Add(history.Event{Phase: history.Return, Op: op})
	}
	j.End.Trailer.Arrivals = &told
	j.End.Trailer.EndNS = 100*ms + n*ms
	j.Measures = c.Result(j.End)
	return j
}

func TestOpenLoop(t *testing.T) {
	for _, c := range []struct {
		name string
		runs []results.Judged
		exit int
	}{
		{"openloop-kept", []results.Judged{openLoop(500, runinfo.Arrivals{Due: 502, Started: 500, Waiting: 2, BehindNS: ms, BusyNS: 1500 * ms})}, results.Passed},
		{"openloop-busy", []results.Judged{openLoop(500, runinfo.Arrivals{Due: 1000, Started: 500, Waiting: 500, BehindNS: 250 * ms, BusyNS: 62_000 * ms, WakingNS: 5 * ms, Processor: 0.97})}, results.Inconclusive},
		{"openloop-machine", []results.Judged{openLoop(500, runinfo.Arrivals{Due: 1000, Started: 500, Waiting: 500, BehindNS: 250 * ms, BusyNS: ms, WakingNS: 62_000 * ms, WakingMaxNS: 250 * ms, Overslept: 400, Processor: 0.4})}, results.Inconclusive},
		{"openloop-late", []results.Judged{
			openLoop(500, runinfo.Arrivals{Due: 500, Started: 500, WakingNS: 3000 * ms, WakingMaxNS: 40 * ms, Overslept: 60}),
			openLoop(400, runinfo.Arrivals{Due: 400, Started: 400}),
		}, results.Inconclusive},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := results.New(c.runs, nil)
			if r.Exit != c.exit || r.Runs[0].OpenLoop.KeptUp != (c.exit == results.Passed) {
				t.Errorf("got exit %d, kept up %v; want %d", r.Exit, r.Runs[0].OpenLoop.KeptUp, c.exit)
			}
			if err := compile(t, true).Validate(encodedResult(t, r)); err != nil {
				t.Errorf("the JSON result: %v", err)
			}
			var buf bytes.Buffer
			if err := Write(&buf, Text, &r, Options{}); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name+".txt", buf.Bytes())
		})
	}
}

// TestBothLatencies checks the latencies from the intended start and from the call, in
// JSON and in files; a closed loop has one file for both.
func TestBothLatencies(t *testing.T) {
	open, closed := openLoop(500, runinfo.Arrivals{Due: 500, Started: 500}), tokenLock("private")
	r := results.New([]results.Judged{open, closed}, nil)
	l := r.Runs[0].Latency
	if got := [...]int64{l["acquire"].P99 / 10_000, l["service"].P99 / 10_000, l["lag"].P99 / 10_000}; got != [...]int64{310, 10, 300} {
		t.Errorf("p99 of acquire, service and lag: got %v, want 310, 10 and 300 (10 us)", got)
	}
	dir := t.TempDir()
	if err := results.HGRM(dir, &r); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for name, want := range map[string]bool{
		"lua-token-token.measured.acquire.hgrm": true, "lua-token-token.measured.service.hgrm": true, "lua-token-token.measured.lag.hgrm": true,
		"lua-token-token-2.measured.acquire.hgrm": true, "lua-token-token-2.measured.service.hgrm": false, "lua-token-token-2.measured.lag.hgrm": false,
	} {
		if got := slices.Contains(files, filepath.Join(dir, name)); got != want {
			t.Errorf("file %s: got %v, want %v", name, got, want)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "lua-token-token.measured.service.hgrm"))
	if err != nil || !strings.Contains(string(text), "#[Max     =        0.100") {
		t.Errorf("service: got %v, %s; want a maximum of 0.1 ms", err, text)
	}
}

func TestArrival(t *testing.T) {
	for _, c := range []struct {
		params map[string]any
		want   string
	}{
		{map[string]any{}, ""},
		{map[string]any{"clients": 8.0}, "closed loop"},
		{map[string]any{"clients": 8.0, "rate": 0.5, "arrival": "constant"}, "open loop: constant 0.5/s"},
		{map[string]any{"stages": "30s:100,1m0s:1000", "arrival": "poisson"}, "open loop: poisson 30s:100,1m0s:1000"},
		{map[string]any{"stages": "30s:100", "arrival": "poisson", "rate": 1000000.0}, "open loop: poisson from 1000000/s, 30s:100"},
	} {
		if got := arrival(c.params); got != c.want {
			t.Errorf("%v: got %q, want %q", c.params, got, c.want)
		}
	}
}
