package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/results"
)

// A scraped has the values of a scrape of the only run, by family and, if there is one,
// the label that distinguishes its series.
type scraped map[string]float64

func scrape(url string) (scraped, error) {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", string(expfmt.NewFormat(expfmt.TypeProtoDelim)))
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	all := make(scraped)
	for decoder := expfmt.NewDecoder(resp.Body, expfmt.ResponseFormat(resp.Header)); ; {
		var f dto.MetricFamily
		switch err := decoder.Decode(&f); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all.add(&f)
	}
}

func (s scraped) add(f *dto.MetricFamily) {
	for _, m := range f.Metric {
		name := f.GetName()
		for _, l := range m.Label {
			if slices.Contains([]string{"guarantee", "conditions", "fault"}, l.GetName()) && l.GetValue() != "" {
				name += " " + l.GetValue()
			}
		}
		if h := m.Histogram; h != nil {
			s[name] = float64(h.GetSampleCount())
			s[name+" native"] = nativeCount(h)
			continue
		}
		s[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
	}
}

// nativeCount returns the number of values in the native buckets of a histogram, which
// are encoded as differences.
func nativeCount(h *dto.Histogram) float64 {
	total, n := int64(h.GetZeroCount()), int64(0)
	for _, d := range h.PositiveDelta {
		n += d
		total += n
	}
	return float64(total)
}

// onSession is the standard error of a session that is scraped. When the run was judged
// to its end, and the session waits for the write of that line, it scrapes for the last
// time.
type onSession struct {
	urls chan string
	url  string
	text bytes.Buffer
	last scraped
	err  error
}

// Write implements [io.Writer].
func (o *onSession) Write(line []byte) (int, error) {
	o.text.Write(line)
	if _, url, ok := strings.Cut(string(line), "metrics: "); ok {
		o.url = strings.TrimSpace(url)
		o.urls <- o.url
	}
	if strings.Contains(string(line), "grants/s") && o.err == nil {
		o.last, o.err = scrape(o.url)
	}
	return len(line), nil
}

// TestMetrics scrapes a run while it lasts, interrupts it once a violation was seen,
// and compares the last scrape with the result.
func TestMetrics(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for some seconds")
	}
	t.Setenv(serverVariable, "")
	t.Setenv("PATH", "") // on the embedded server
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stderr := &onSession{urls: make(chan string, 1)}
	var stdout bytes.Buffer
	exit := make(chan int, 1)
	go func() {
		exit <- execute(ctx, []string{"run", "--design", "setnx-getset/naive", "--clients", "8", "--keys", "2", "--ttl", "1s", "--wait", "50ms",
			"--stallers", "0", "--slow", "1", "--duration", "1h", "--warmup", "0s", "--fault", "lost-reply,p=0.02", "--out", "json=-", "--metrics", ":0", "--seed", "7"}, &stdout, stderr)
	}()
	var live scraped
	select {
	case url := <-stderr.urls:
		live = untilBroken(t, url)
	case code := <-exit:
		t.Fatalf("exit %d: %s", code, stderr.text.String())
	}
	stop()
	<-exit
	if stderr.err != nil || stderr.last == nil {
		t.Fatalf("the last scrape: %v\n%s", stderr.err, stderr.text.String())
	}
	if diff := cmp.Diff(map[string]float64{"active": live["lockbench_run_active"], "finished": live["lockbench_finished_runs_total"]}, map[string]float64{"active": 1, "finished": 0}); diff != "" {
		t.Errorf("while it ran (-got +want):\n%s", diff)
	}
	result, err := results.ReadAs[*results.Result](&stdout)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stderr.last.found(), wanted(&result.Runs[0])); diff != "" {
		t.Errorf("the last scrape (-got +want the result):\n%s", diff)
	}
	if conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(stderr.url, "http://"), "/metrics")); err == nil {
		conn.Close()
		t.Error("the server is still there")
	}
}

// untilBroken scrapes until a claim is broken, and returns that scrape.
func untilBroken(t *testing.T, url string) scraped {
	t.Helper()
	for {
		s, err := scrape(url)
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range s {
			if strings.HasPrefix(name, "lockbench_violations_total") && v > 0 {
				return s
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// found returns the counts without zeros, and without values that results lack in this
// form.
func (s scraped) found() scraped {
	found := maps.Clone(s)
	maps.DeleteFunc(found, func(name string, v float64) bool {
		return v == 0 || name == "lockbench_attempts_total" || name == "lockbench_session_runs"
	})
	return found
}

// wanted returns the values that a scrape must have after the end of a run.
func wanted(r *results.Run) scraped {
	all := scraped{
		"lockbench_grants_total": float64(r.Counts.Grants), "lockbench_refusals_total": float64(r.Counts.Refused),
		"lockbench_unknown_outcomes_total": float64(r.Counts.Unknown), "lockbench_failures_total": float64(r.Counts.Failed),
		"lockbench_losses_total": float64(r.Counts.Lost), "lockbench_lost_updates_total": float64(r.Counts.LostUpdates),
		"lockbench_run_progress_ratio": 1, "lockbench_finished_runs_total": 1,
	}
	for op, family := range map[string]string{"acquire": "acquire", "refused": "refusal", "release": "release", "handoff": "handoff", "hold": "hold", "loss_notice": "loss_notice", "left_taken": "left_taken"} {
		for _, kind := range []string{"", " native"} {
			all["lockbench_"+family+"_seconds"+kind] = float64(r.Latency[op].Count)
		}
	}
	for cell, f := range r.Cells.Cells {
		if f.Verdict == checker.Broken {
			all[strings.TrimSuffix("lockbench_violations_total "+cell.Under.String(), " ")+" "+string(cell.Guarantee)] = float64(f.Violations)
		}
	}
	for _, f := range r.OverTime.Faults {
		for _, n := range f.Occurrences {
			all["lockbench_fault_occurrences_total "+f.Note] += float64(n)
		}
	}
	return all.found()
}
