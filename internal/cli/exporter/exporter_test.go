package exporter

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = int64(1e6)

// aRun makes a run of two grants, of 1 ms and 20 ms, the first in the warm-up, a
// refusal, a release without an answer, and a client that dies.
func aRun(e *Exporter) *Run {
	r := e.Begin(Subject{Design: "family/one", Workload: "mutex", Guard: "none", Clients: "8", Keys: "2", Progress: func() (float64, bool) { return 0.25, true }},
		history.Header{WarmupNS: 50 * ms, Claims: lockbench.Claims{Keeps: []lockbench.Guarantee{lockbench.Exclusion}}})
	for _, op := range []history.Op{
		{Kind: history.Acquire, Outcome: history.OK, Key: "k", Hold: 1, Attempts: 2, Call: 10 * ms, Return: 11 * ms},
		{Kind: history.Release, Outcome: history.Unknown, Key: "k", Hold: 1, Call: 12 * ms, Return: history.Never},
		{Kind: history.Acquire, Outcome: history.Refused, Key: "k", Attempts: 1, Call: 60 * ms, Return: 62 * ms},
		{Kind: history.Acquire, Outcome: history.OK, Key: "k", Hold: 2, Attempts: 1, Intended: 65 * ms, Call: 70 * ms, Return: 85 * ms},
		{Kind: history.Death, Client: 2, Call: 90 * ms, Return: 90 * ms},
	} {
		r.Add(history.Event{Phase: history.Call, Op: &op})
		if op.Return != history.Never && op.Kind != history.Death {
			r.Add(history.Event{Phase: history.Return, Op: &op})
		}
	}
	return r
}

func TestText(t *testing.T) {
	e := New(2)
	r := aRun(e)
	r.Judge([]checker.CellFinding{
		{Cell: lockbench.Exclusion.At(0), Finding: checker.Finding{Claimed: true, Verdict: checker.Held, Violations: 9}},
		{Cell: lockbench.Exclusion.At(lockbench.StateLoss | lockbench.Skew), Finding: checker.Finding{Verdict: checker.Broken, Violations: 3}},
	})
	const labels = `{clients="8",design="family/one",guard="none",keys="2",workload="mutex"`
	during := []string{
		"lockbench_grants_total" + labels + "} 2", "lockbench_attempts_total" + labels + "} 4", "lockbench_refusals_total" + labels + "} 1",
		"lockbench_unknown_outcomes_total" + labels + "} 1", "lockbench_acquire_seconds_count" + labels + "} 2",
		"lockbench_acquire_seconds_bucket" + labels + `,le="0.001"} 1`, "lockbench_acquire_seconds_bucket" + labels + `,le="0.025"} 2`,
		"lockbench_acquire_service_seconds_count" + labels + "} 1", "lockbench_acquire_lag_seconds_count" + labels + "} 1", "lockbench_refusal_seconds_count" + labels + "} 1",
		`lockbench_fault_occurrences_total{clients="8",design="family/one",fault="death",guard="none",keys="2",workload="mutex"} 1`,
		`lockbench_violations_total{claimed="true",clients="8",conditions="",design="family/one",guarantee="exclusion",guard="none",keys="2",workload="mutex"} 0`,
		`lockbench_violations_total{claimed="false",clients="8",conditions="skew+state-loss",design="family/one",guarantee="exclusion",guard="none",keys="2",workload="mutex"} 3`,
		"lockbench_run_active" + labels + "} 1", "lockbench_run_progress_ratio" + labels + "} 0.25", "lockbench_session_runs 2", "lockbench_finished_runs_total 0",
	}
	if missing := lacks(text(t, e), during); missing != nil {
		t.Errorf("missing while it runs:\n%s\nin\n%s", strings.Join(missing, "\n"), text(t, e))
	}
	if strings.Contains(text(t, e), "lockbench_business_figure{") {
		t.Error("figures of a business while clients run; want none before they can be counted")
	}
	r.Settle(&runinfo.Business{Figures: map[string]int64{"sold": 12, "gone": 10, "oversold": 2}})
	r.Over([]checker.CellFinding{{Cell: lockbench.Exclusion.At(0), Finding: checker.Finding{Claimed: true, Verdict: checker.Broken, Violations: 4}}})
	after := []string{
		`lockbench_business_figure{clients="8",design="family/one",figure="sold",guard="none",keys="2",workload="mutex"} 12`,
		`lockbench_business_figure{clients="8",design="family/one",figure="gone",guard="none",keys="2",workload="mutex"} 10`,
		`lockbench_business_figure{clients="8",design="family/one",figure="oversold",guard="none",keys="2",workload="mutex"} 2`,
		`lockbench_violations_total{claimed="true",clients="8",conditions="",design="family/one",guarantee="exclusion",guard="none",keys="2",workload="mutex"} 4`,
		"lockbench_run_active" + labels + "} 0", "lockbench_run_progress_ratio" + labels + "} 1", "lockbench_finished_runs_total 1",
	}
	if missing := lacks(text(t, e), after); missing != nil {
		t.Errorf("missing when it is over:\n%s\nin\n%s", strings.Join(missing, "\n"), text(t, e))
	}
}

// text returns the answer to a scraper with no special request.
func text(t *testing.T, e *Exporter) string {
	t.Helper()
	return scrape(t, e, "").Body.String()
}

func scrape(t *testing.T, e *Exporter, accept string) *httptest.ResponseRecorder {
	t.Helper()
	w, req := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil)
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	e.Handler().ServeHTTP(w, req)
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w
}

func lacks(text string, lines []string) (missing []string) {
	for _, line := range lines {
		if !strings.Contains(text, line+"\n") {
			missing = append(missing, line)
		}
	}
	return missing
}

func TestNamesAreThoseOfPrometheus(t *testing.T) {
	e := New(1)
	aRun(e)
	problems, err := testutil.GatherAndLint(e.registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestNativeHistogram asks for Protocol Buffers, and checks the buckets of the two
// grants.
func TestNativeHistogram(t *testing.T) {
	e := New(1)
	aRun(e)
	w := scrape(t, e, string(expfmt.NewFormat(expfmt.TypeProtoDelim)))
	decoder := expfmt.NewDecoder(w.Body, expfmt.ResponseFormat(w.Header()))
	for {
		var f dto.MetricFamily
		if err := decoder.Decode(&f); err != nil {
			t.Fatalf("no acquire_seconds: %v", err)
		}
		if f.GetName() != "lockbench_acquire_seconds" {
			continue
		}
		h := f.Metric[0].Histogram
		if diff := cmp.Diff(nativeBuckets(h), []float64{0.001, 0.02}, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < a/10 })); diff != "" {
			t.Errorf("upper bounds of native buckets (-got +want):\n%s", diff)
		}
		if got := len(h.Bucket); got < 10 {
			t.Errorf("%d classic buckets beside them, want some", got)
		}
		return
	}
}

// nativeBuckets returns the upper bounds of the buckets with one value.
func nativeBuckets(h *dto.Histogram) (bounds []float64) {
	index, count, delta := int32(0), int64(0), h.PositiveDelta
	for _, span := range h.PositiveSpan {
		index += span.GetOffset()
		for range span.GetLength() {
			count, delta = count+delta[0], delta[1:]
			if count == 1 {
				bounds = append(bounds, math.Pow(2, float64(index)*math.Pow(2, float64(-h.GetSchema()))))
			}
			index++
		}
	}
	return bounds
}

// TestSameLabels checks that a second run with the same labels replaces the first.
func TestSameLabels(t *testing.T) {
	e := New(2)
	aRun(e).Over(nil)
	aRun(e)
	const labels = `{clients="8",design="family/one",guard="none",keys="2",workload="mutex"}`
	if missing := lacks(text(t, e), []string{"lockbench_grants_total" + labels + " 2", "lockbench_acquire_seconds_count" + labels + " 2"}); missing != nil {
		t.Errorf("missing: %q", missing)
	}
}

// TestPoints checks that a run of the same design at another point does not
// replace the first.
func TestPoints(t *testing.T) {
	e := New(2)
	aRun(e)
	e.Begin(Subject{Design: "family/one", Workload: "mutex", Guard: "none", Clients: "64", Keys: "2"}, history.Header{})
	const before, after = `{clients="8",design="family/one",guard="none",keys="2",workload="mutex"}`, `{clients="64",design="family/one",guard="none",keys="2",workload="mutex"}`
	if missing := lacks(text(t, e), []string{"lockbench_grants_total" + before + " 2", "lockbench_grants_total" + after + " 0"}); missing != nil {
		t.Errorf("missing: %q", missing)
	}
}

// TestPlan checks a session with fewer runs than planned.
func TestPlan(t *testing.T) {
	e := New(5)
	e.Plan(3)
	if missing := lacks(text(t, e), []string{"lockbench_session_runs 3"}); missing != nil {
		t.Errorf("missing: %q", missing)
	}
}

func TestServe(t *testing.T) {
	s, err := Serve(":0", New(1).Handler())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(s.URL(), "http://127.0.0.1:") {
		t.Errorf("URL %s, want one of this machine only", s.URL())
	}
	resp, err := http.Get(strings.TrimSuffix(s.URL(), path)) // which leads there
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(got), "lockbench_session_runs 1\n") {
		t.Errorf("got %q, %v", got, err)
	}
	taken := strings.TrimSuffix(strings.TrimPrefix(s.URL(), "http://"), path)
	if second, err := Serve(taken, New(1).Handler()); err == nil {
		t.Errorf("a second server at %s: %v", taken, second.Close())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(s.URL()); err == nil {
		t.Error("it answers after Close")
	}
}

func TestServeRefuses(t *testing.T) {
	for _, address := range []string{"9090", "localhost", ":http-no-such", ":70000", "host:1:2"} {
		t.Run(address, func(t *testing.T) {
			s, err := Serve(address, http.NotFoundHandler())
			if err == nil {
				t.Fatalf("no error, and a server at %s: %v", s.URL(), s.Close())
			}
			if !strings.Contains(err.Error(), "; hint: ") {
				t.Errorf("no hint in %q", err)
			}
		})
	}
}
