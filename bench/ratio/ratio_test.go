package main

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMain lets the test binary stand for lockbench under other names: see pretend.
func TestMain(m *testing.M) {
	if name := filepath.Base(os.Args[0]); strings.HasPrefix(name, "pretended-") {
		os.Exit(pretend(name, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// pretend writes the result of a command that does nothing, with an exit code that is a verdict. As
// pretended-broken it fails at check, as pretended-mute it writes no result, and as pretended-idle
// it has done no work.
func pretend(name string, args []string) int {
	if args[0] == "check" && name == "pretended-broken" {
		os.Stderr.WriteString("unknown flag: --out\n")
		return 2
	}
	at := slices.Index(args, "--out")
	if at < 0 || name == "pretended-mute" {
		os.Stderr.WriteString("nothing written\n")
		return 1
	}
	text := `{"runs":[{"counts":{"ops":700},"exploration":{"schedules":30}},{"exploration":{"schedules":5}}]}`
	if name == "pretended-idle" {
		text = `{"runs":[]}`
	}
	if err := os.WriteFile(strings.TrimPrefix(args[at+1], "json="), []byte(text), 0o600); err != nil {
		return 2
	}
	return 3
}

// pretended returns the path of a binary that pretends.
func pretended(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pretended-"+name)
	if err := os.Symlink(self, path); err != nil {
		t.Skip(err)
	}
	return path
}

func TestBothBinariesTakeTurns(t *testing.T) {
	path := pretended(t, "right")
	var out, progress strings.Builder
	args := []string{"-rounds", "2", "-ops", "1", "-rows", "check-cpu,explore-broken", path, path}
	if err := run(context.Background(), &out, &progress, args); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`Too few rounds .* 2 for 2 rows; hint: take 7 or more`, `check-cpu +ops/cpu-s +\d+ +\d+ +\d`, `explore-broken +schedules/cpu-s .* too few rounds`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("report lacks %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "explore-orders") || strings.Contains(out.String(), "the work may differ") {
		t.Errorf("report says too much:\n%s", out.String())
	}
	if !strings.Contains(progress.String(), "round 2 of 2") {
		t.Errorf("no progress in %q", progress.String())
	}
}

func TestFailuresNameTheBinary(t *testing.T) {
	right := pretended(t, "right")
	for _, c := range []struct {
		name string
		want []string
	}{
		{"broken", []string{"NEW fails: exit status 2", "pretended-broken check", "unknown flag: --out", "hint: "}},
		{"mute", []string{"NEW fails: no result", "pretended-mute check", "nothing written", "hint: "}},
		{"idle", []string{"NEW fails: check-cpu comes to 0 ops/cpu-s", "pretended-idle check", "hint: "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := []string{"-rounds", "1", "-rows", "check-cpu", right, pretended(t, c.name)}
			err := run(context.Background(), &strings.Builder{}, &strings.Builder{}, args)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error lacks %q:\n%v", want, err)
				}
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"no binary", nil, "0 binaries given; hint: give two, OLD and NEW"},
		{"three", []string{self, self, self}, "3 binaries given"},
		{"no rounds", []string{"-rounds", "0", self, self}, "hint: both are positive"},
		{"no operations", []string{"-ops", "0", self, self}, "hint: both are positive"},
		{"no number", []string{"-ops", "20M", self, self}, "invalid value"},
		{"no such row", []string{"-rows", "check,jump", self, self}, `no row is called "jump"; hint: rows and verbs are ` +
			"check, check-cpu, check-wall, explore, explore-broken, explore-faults, explore-orders, run, run-cpu, run-wall"},
		{"no such file", []string{self, filepath.Join(t.TempDir(), "none")}, "NEW: "},
		{"a folder", []string{t.TempDir(), self}, "OLD: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse(&strings.Builder{}, c.args)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestRowsAreSelectedByNameAndByVerb(t *testing.T) {
	for _, c := range []struct {
		names, want string
	}{
		{"", "run-wall run-cpu check-wall check-cpu explore-orders explore-faults explore-broken"},
		{"explore,check-cpu", "check-cpu explore-orders explore-faults explore-broken"},
		{"run", "run-wall run-cpu"},
	} {
		t.Run(c.names, func(t *testing.T) {
			chosen, err := selected(c.names)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range chosen {
				for _, r := range m.rows {
					got = append(got, r.name)
				}
			}
			if diff := cmp.Diff(strings.Join(got, " "), c.want); diff != "" {
				t.Errorf("rows (-got +want):\n%s", diff)
			}
		})
	}
}

func TestFiguresAreWorkPerSecond(t *testing.T) {
	var d document
	text := `{"runs":[{"grants_per_s":90,"counts":{"ops":400,"grants":200},"exploration":{"schedules":7}},{"counts":{"ops":100},"exploration":{"schedules":3}}]}`
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"run-wall": 90, "run-cpu": 50, "check-wall": 250, "check-cpu": 125, "explore-orders": 2.5, "explore-faults": 2.5, "explore-broken": 2.5}
	got := map[string]float64{}
	for _, m := range measurements {
		for _, r := range m.rows {
			got[r.name] = r.rate(turn{runs: 1, work: m.work(d), processor: 4 * time.Second, wall: 2 * time.Second, measuredRate: d.rate()})
		}
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("figures (-got +want):\n%s", diff)
	}
}

// TestReportComparesWithinRounds: a minute in which all is slow meets both, and NEW is a tenth
// slower in each round, and slower yet in one, though the figures of both overlap.
func TestReportComparesWithinRounds(t *testing.T) {
	chosen, err := selected("check-cpu")
	if err != nil {
		t.Fatal(err)
	}
	var res result
	for i := range 6 {
		work := 1000 * float64(i+1)
		res.old = append(res.old, turn{work: work, processor: time.Second})
		res.new = append(res.new, turn{work: 0.9 * work, processor: time.Second})
	}
	res.new[2].work = 1500
	var out strings.Builder
	if err := report(&out, options{Rounds: 6, Measurements: chosen}, []result{res}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`from ratio 1 to ratio 6 by size, 96.88 %`, `check-cpu +ops/cpu-s +3500 +2700 +0.900 +0.500 to 0.900 +slower`, `OLD did 1000 and NEW 900`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("report lacks %q:\n%s", want, out.String())
		}
	}
}

func TestAPathWithASpaceIsOneWord(t *testing.T) {
	got := place{history: "/a b/h"}.fill("check {history}")
	if diff := cmp.Diff(got, []string{"check", "/a b/h"}); diff != "" {
		t.Errorf("words (-got +want):\n%s", diff)
	}
}

// TestReportSaysWhatItCouldNotSee has one round say that NEW is faster, the others that it is slower.
func TestReportSaysWhatItCouldNotSee(t *testing.T) {
	for _, c := range []struct {
		other float64
		want  bool
	}{{0.98, false}, {0.96, true}} {
		res := result{}
		for _, work := range []float64{1.02, c.other, c.other, c.other, c.other, c.other} {
			res.old = append(res.old, turn{work: 1, processor: time.Second})
			res.new = append(res.new, turn{work: work, processor: time.Second})
		}
		chosen, err := selected("explore-orders")
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := report(&out, options{Rounds: 6, Measurements: chosen}, []result{res}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "3 % more or less can go unseen in explore-orders; hint: "); got != c.want {
			t.Errorf("with rounds of ratio %v a note is %v, want %v:\n%s", c.other, got, c.want, out.String())
		}
	}
}

// TestRoundsAreBalanced checks the order of turns, and that every other round is reversed.
func TestRoundsAreBalanced(t *testing.T) {
	turns := 0
	m := measurement{args: "check", work: func(document) float64 { turns++; return math.Pow(10, float64(turns-1)) }}
	opt := options{Old: binary{role: "OLD", path: pretended(t, "right")}, New: binary{role: "NEW", path: pretended(t, "right")}, Rounds: 2, Measurements: []measurement{m}}
	results, err := measure(context.Background(), &strings.Builder{}, place{out: filepath.Join(t.TempDir(), "result.json")}, opt)
	if err != nil {
		t.Fatal(err)
	}
	old, changed := results[0].old, results[0].new
	got := []float64{old[0].work, changed[0].work, old[1].work, changed[1].work}
	if diff := cmp.Diff(got, []float64{1001, 110, 110_0000, 1001_0000}); diff != "" {
		t.Errorf("work of OLD and NEW in two rounds, by the places of their turns (-got +want):\n%s", diff)
	}
	if old[0].runs != 2 {
		t.Errorf("%d runs in a round, want 2", old[0].runs)
	}
}

// TestRoundsAddUp: a round has the mean rate of its turns, and all of their time.
func TestRoundsAddUp(t *testing.T) {
	sum := turn{}.plus(turn{runs: 1, work: 10, processor: time.Second, wall: 2 * time.Second, measuredRate: 30, said: "x"})
	sum = sum.plus(turn{runs: 1, work: 20, processor: 2 * time.Second, wall: 3 * time.Second, measuredRate: 50})
	got := []float64{sum.perMeasuredSecond(), sum.perProcessorSecond(), sum.perSecond()}
	if diff := cmp.Diff(got, []float64{40, 10, 6}); diff != "" {
		t.Errorf("rates (-got +want):\n%s", diff)
	}
}
