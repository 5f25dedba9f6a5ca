package reports

import (
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/measure/series"
	"github.com/lockbench/lockbench/results"
)

const ms = int64(time.Millisecond)

// sample returns runs of a design that breaks an unclaimed cell, one that only reaches the limit of
// leases, one that breaks a claim, and one with a failed run.
func sample(kind string) []results.Judged {
	return []results.Judged{plainDelete(kind), tokenLock(kind), stealer(kind), failedRun(kind)}
}

func header(design, kind string) history.Header {
	return history.Header{
		Schema: history.Schema, Design: design, Workload: "oversell", Seed: 42, WarmupNS: 100 * ms,
		Params: map[string]any{
			"clients": 24.0, "keys": 16.0, "ttl_ns": 2e9, "hold": "exp:1ms", "slow": 0.125, "wait_ns": 2.5e8,
		},
		Server:      runinfo.Server{Kind: kind, Version: "redis 7.0.15", Address: "unix:redis.sock"},
		Environment: runinfo.Environment{OS: "linux", Arch: "amd64", CPUs: 2, Go: "go1.26.0", Version: "v0.1.0"},
		Started:     "2026-11-02T10:00:00Z",
	}
}

// measured returns the measures of a run with n grants a millisecond apart.
func measured(h history.Header, n int64) (measure.Measures, history.End) {
	c := measure.New(h)
	for _, at := range []int64{150, 160} {
		c.Add(history.Event{Phase: history.Call, Op: &history.Op{Kind: history.Fault, Client: -1, Call: at * ms, Return: at * ms, Note: "slow", Value: 20 * ms}})
	}
	for i := range n {
		at := 100*ms + i*ms
		acquire := &history.Op{Kind: history.Acquire, Outcome: history.OK, Key: "stock-1", Hold: i + 1, Attempts: 2, Call: at - 2*ms, Return: at + i*1000}
		release := &history.Op{Kind: history.Release, Outcome: history.OK, Key: "stock-1", Hold: i + 1, Call: at + ms/2, Return: at + ms/2 + 90_000}
		c.Add(history.Event{Phase: history.Call, Op: acquire})
		c.Add(history.Event{Phase: history.Return, Op: acquire})
		c.Add(history.Event{Phase: history.Call, Op: release})
		c.Add(history.Event{Phase: history.Return, Op: release})
	}
	end := history.End{Trailer: history.Trailer{EndNS: 100*ms + n*ms, Commands: 4 * n, Ops: 2 * n, Ended: "duration", MonitorEntries: n}}
	end.Trailer.Traffic = &runinfo.Traffic{Sent: 300 * n, Received: 41 * n, Connections: 20}
	if h.Server.Kind != "embedded" {
		cpu := 12_300 * n
		end.Trailer.ServerCPUNS = &cpu
	}
	return c.Result(end), end
}

// judged returns a run with the given verdicts; all other cells are untested.
func judged(h history.Header, n int64, findings ...checker.CellFinding) results.Judged {
	m, end := measured(h, n)
	j := results.Judged{Header: h, End: end, Measures: m, History: "histories/" + results.FileName(h.Design) + ".lbh"}
	j.Verdicts = checker.Result{Ops: 2 * n, Grants: n, Refused: 3, CrossChecked: 2}
	for _, g := range lockbench.Guarantees() {
		findings = append(findings, checker.CellFinding{Cell: g.Name.At(0)})
	}
	for _, f := range findings {
		if !slices.ContainsFunc(j.Verdicts.Findings, func(o checker.CellFinding) bool { return o.Cell == f.Cell }) {
			j.Verdicts.Findings = append(j.Verdicts.Findings, f)
		}
		j.Verdicts.Breaches += f.Violations
	}
	slices.SortFunc(j.Verdicts.Findings, func(a, b checker.CellFinding) int { return a.Cell.Compare(b.Cell) })
	return j
}

// set replaces the finding on a cell.
func set(j *results.Judged, f checker.CellFinding) {
	i := slices.IndexFunc(j.Verdicts.Findings, func(o checker.CellFinding) bool { return o.Cell == f.Cell })
	j.Verdicts.Findings[i] = f
}

func held(cell lockbench.Cell, exposure int64) checker.CellFinding {
	return checker.CellFinding{Cell: cell, Finding: checker.Finding{Verdict: checker.Held, Claimed: true, Exercised: true, Exposure: exposure}}
}

// broken returns a finding of violations; claimed ones all count.
func broken(cell lockbench.Cell, claimed bool, violations, exposure int64) checker.CellFinding {
	f := checker.CellFinding{Cell: cell, Finding: checker.Finding{Verdict: checker.Broken, Claimed: claimed, Exercised: true, Exposure: exposure, Violations: violations}}
	if claimed {
		f.Against = violations
	}
	return f
}

// Some cells.
var (
	exclusive = lockbench.Exclusion.At(0)
	stale     = lockbench.OwnerRelease.At(lockbench.Outlived)
	lease     = lockbench.LeaseKept.At(0)
	overrun   = lockbench.Exclusion.At(lockbench.Outlived)
	crashed   = lockbench.Recovery.At(lockbench.Crash)
	told      = lockbench.LossReported.At(lockbench.Outlived)
)

func plainDelete(kind string) results.Judged {
	counterexample := &checker.Counterexample{
		Key:      "stock-1",
		Sentence: "client 5's late release freed the lock of client 9, and client 12 was granted it within client 9's lease",
		Margin:   1_600 * time.Millisecond,
		Holds: []checker.CounterexampleHold{
			{Hold: 1, Client: 5, From: 400 * ms, Granted: 401 * ms, Until: 2400 * ms, End: 2400 * ms, EndedBy: "validity"},
			{Hold: 2, Client: 9, From: 2411 * ms, Granted: 2412 * ms, Until: 4411 * ms, End: 2913 * ms, EndedBy: "release"},
			{Hold: 3, Client: 12, From: 2900*ms + 100_000, Granted: 2900*ms + 341_000, Until: 4900 * ms, End: 2914 * ms, EndedBy: "release"},
		},
		Ops: []history.Op{
			{Kind: history.Acquire, Outcome: history.OK, Client: 5, Hold: 1, Call: 300 * ms, Return: 401 * ms, Attempt: 400 * ms, Asked: 2000 * ms, Granted: 2000 * ms, Attempts: 9},
			{Kind: history.Acquire, Outcome: history.OK, Client: 9, Hold: 2, Call: 2411 * ms, Return: 2412 * ms, Attempt: 2411 * ms, Asked: 2000 * ms, Granted: 2000 * ms, Attempts: 1},
			{Kind: history.Acquire, Outcome: history.OK, Client: 12, Hold: 3, Call: 2800 * ms, Return: 2900*ms + 341_000, Attempt: 2900*ms + 100_000, Granted: 2000 * ms, Attempts: 11},
			{Kind: history.Release, Outcome: history.OK, Client: 5, Hold: 1, Call: 2900 * ms, Return: 2900*ms + 45_000},
			{Kind: history.Release, Outcome: history.OK, Client: 9, Hold: 2, Call: 2913 * ms, Return: 2913*ms + 41_000},
			{Kind: history.Release, Outcome: history.Unknown, Client: 12, Hold: 3, Call: 2914 * ms, Return: history.Never},
		},
	}
	counterexample.Breaks = []lockbench.Guarantee{lockbench.OwnerRelease}
	freed := broken(stale, false, 7, 31)
	freed.Counterexample, freed.When = counterexample, series.Counts{Width: 4 * series.Narrowest, N: []int64{0, 0, 4, 3}}
	overran := broken(overrun, false, 31, 40)
	overran.Note, overran.Counterexample = "another owner got in", counterexample
	overran.Measures = map[string]float64{"overlap_count": 31, "overlap_max_ns": 512e6, "overlap_p50_ns": 499e6, "overlap_p99_ns": 511e6}
	h := header("lua-token/expire", kind)
	h.Claims = lockbench.LeaseClaims().Without(lockbench.OwnerRelease)
	j := judged(h, 300,
		held(lease, 120), freed, overran,
		checker.CellFinding{Cell: lockbench.Recovery.At(0), Finding: checker.Finding{Claimed: true}},
	)
	j.Verdicts.WorstOverlap = 512 * time.Millisecond
	return j
}

func tokenLock(kind string) results.Judged {
	j := judged(header("lua-token/token", kind), 400,
		held(exclusive, 1200), held(stale, 31), held(lease, 120), held(crashed, 7),
		held(lockbench.Exclusion.At(lockbench.Crash|lockbench.Skew), 400),
		checker.CellFinding{Cell: lockbench.Fencing.At(0), Finding: checker.Finding{Verdict: checker.NotApplicable, Note: "no fence was handed out"}},
		checker.CellFinding{Cell: lockbench.Reentrancy.At(0), Finding: checker.Finding{Claimed: true}},
		checker.CellFinding{Cell: lockbench.Effects.At(0), Finding: checker.Finding{Verdict: checker.Untested, Claimed: true, Exercised: true, Note: "no client wrote after another"}},
	)
	return j
}

func stealer(kind string) results.Judged {
	counterexample := &checker.Counterexample{
		Key: "stock 3", Sentence: "client 1 and client 2 held the lock at once, both within their lease", Margin: 1700,
		Holds: []checker.CounterexampleHold{
			{Hold: 5, Client: 1, From: 1200 * ms, Granted: 1200*ms + 300_000, Until: 3200 * ms, End: 1201*ms + 2000, EndedBy: "release"},
			{Hold: 6, Client: 2, From: 1200*ms + 900_000, Granted: 1201*ms + 300, Until: 3200 * ms, End: 1209 * ms, EndedBy: "release"},
		},
		Ops: []history.Op{
			{Kind: history.Acquire, Outcome: history.OK, Client: 1, Hold: 5, Call: 1200 * ms, Return: 1200*ms + 300_000, Attempt: 1200 * ms, Granted: 2000 * ms, Fence: 7},
			{Kind: history.Acquire, Outcome: history.OK, Client: 2, Hold: 6, Call: 1200*ms + 900_000, Return: 1201*ms + 300, Attempt: history.NoStamp, Granted: 2000 * ms},
			{Kind: history.Read, Outcome: history.OK, Client: 1, Hold: 5, Call: 1200*ms + 400_000, Return: 1200*ms + 410_000, Value: 8, Version: 12},
			{Kind: history.Write, Outcome: history.OK, Client: 1, Hold: 5, Call: 1200*ms + 500_000, Return: 1200*ms + 510_000, Value: 7, Version: 13, Base: 12},
			{Kind: history.Release, Outcome: history.LossReported, Late: true, Client: 1, Hold: 5, Call: 1201*ms + 2000, Return: 1201*ms + 90_000, Note: "timeout"},
			{Kind: history.Release, Outcome: history.OK, Client: 2, Hold: 6, Call: 1209 * ms, Return: 1210 * ms},
		},
	}
	both := broken(exclusive, true, 1, 1400)
	both.Counterexample = counterexample
	j := judged(header("watch-multi/poll", kind), 50, both, held(lease, 12))
	j.History = "my histories/it's.lbh"
	j.Verdicts.Partial, j.Verdicts.Why, j.End.Partial = true, "block 17 is cut short", true
	return j
}

func failedRun(kind string) results.Judged {
	j := judged(header("hash-reentrant/plain", kind), 0)
	j.Err = errors.New("the server went away after 0.2s: connection refused")
	j.Verdicts.Grants, j.Verdicts.Ops, j.Verdicts.Refused, j.Verdicts.CrossChecked = 0, 0, 0, 0
	j.Notes = []string{"nothing was granted"}
	j.History = ""
	return j
}

// A recorded is a history in memory.
type recorded struct {
	header history.Header
	events []history.Event
	end    history.End
}

func (s recorded) Header() history.Header { return s.header }
func (s recorded) End() history.End       { return s.end }
func (s recorded) Events() iter.Seq2[history.Event, error] {
	return func(yield func(history.Event, error) bool) {
		for _, ev := range s.events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// overlapping returns the judgement of a history that breaks exclusion.
func overlapping() (results.Judged, error) {
	h := header("lua-token/token", "private")
	h.Claims = lockbench.Claims{Keeps: []lockbench.Guarantee{lockbench.Exclusion}}
	h.Exercises = []lockbench.Cell{exclusive}
	a := &history.Op{Kind: history.Acquire, Outcome: history.OK, Client: 1, Hold: 1, Key: "k", Call: 200 * ms, Return: 201 * ms, Attempt: 200 * ms, Asked: 1000 * ms, Granted: 1000 * ms, Attempts: 1}
	b := &history.Op{Kind: history.Acquire, Outcome: history.OK, Client: 2, Hold: 2, Key: "k", Call: 300 * ms, Return: 301 * ms, Attempt: 300 * ms, Asked: 1000 * ms, Granted: 1000 * ms, Attempts: 1}
	src := recorded{
		header: h,
		events: []history.Event{
			{Phase: history.Call, Op: a}, {Phase: history.Return, Op: a},
			{Phase: history.Call, Op: b}, {Phase: history.Return, Op: b},
		},
		end: history.End{Trailer: history.Trailer{EndNS: 400 * ms, Ops: 2, Commands: 2, Ended: "duration"}},
	}
	m := measure.New(h)
	for ev := range src.Events() {
		m.Add(ev)
	}
	verdicts, err := checker.Check(src)
	return results.Judged{Header: h, End: src.end, Verdicts: verdicts, Measures: m.Result(src.end)}, err
}
