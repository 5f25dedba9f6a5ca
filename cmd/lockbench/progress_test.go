package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/reports"
)

// broke is a run that broke owner-release seven times.
func broke() *reports.Judged {
	return &reports.Judged{Verdicts: checker.Result{Findings: []checker.Finding{
		{Cell: lockbench.Exclusion.At(0), Verdict: checker.Held, Violations: 0},
		{Cell: lockbench.OwnerRelease.At(lockbench.Outlived), Verdict: checker.Broken, Violations: 7},
	}}}
}

func TestLines(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, false, 2)
	p.say("server: %s", "private")
	p.begin("a/b", &load.Progress{})
	p.end(broke())
	p.begin("c/d", &load.Progress{})
	p.end(&reports.Judged{Err: errors.New("the disk is full")})
	p.close()
	want := `server: private
[1/2] a/b ...
[1/2] a/b: 0 grants/s, broke owner-release@outlived
[2/2] c/d ...
[2/2] c/d: 0 grants/s, the disk is full
`
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}

func TestBar(t *testing.T) {
	var out bytes.Buffer
	b := &bar{lines: &lines{w: &out, total: 3}}
	live := &load.Progress{}
	b.begin("a/b", live)
	b.end(broke())
	live.Violations.Store(2)
	b.begin("c/d", live)
	b.say("interrupted")
	b.close()
	b.close() // again, as after an error: nothing is left to stop
	for _, want := range []string{"[1/3] a/b", "0 violations so far", "[2/3] c/d", "9 violations so far", "interrupted\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out.String())
		}
	}
}

func TestPermille(t *testing.T) {
	live := &load.Progress{}
	if got := permille(live); got != 0 {
		t.Errorf("before it began: got %d, want 0", got)
	}
	live.Started.Store(time.Now().Add(-time.Hour).UnixNano())
	if got := permille(live); got != 0 {
		t.Errorf("without a duration: got %d, want 0", got)
	}
	live.Duration.Store(int64(time.Minute))
	if got := permille(live); got != 999 {
		t.Errorf("past its duration: got %d, want 999", got)
	}
	live.Duration.Store(int64(2 * time.Hour))
	if got := permille(live); got < 500 || got > 600 {
		t.Errorf("half-way: got %d, want 500 or a little more", got)
	}
}

func TestQuiet(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, true, 1)
	p.say("x")
	p.begin("a/b", &load.Progress{})
	p.end(broke())
	p.close()
	if out.Len() != 0 {
		t.Errorf("got %q, want nothing", out.String())
	}
}
