package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

func TestRatioIsTheMedianOfTheRounds(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []float64
		want float64
	}{
		{"one round", []float64{9}, []float64{10}, 0.9},
		{"a slow minute meets both", []float64{90, 9, 95}, []float64{100, 10, 100}, 0.9},
		{"even rounds", []float64{8, 10}, []float64{10, 10}, 0.9},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ratio(c.a, c.b); got != c.want {
				t.Errorf("ratio %v, want %v", got, c.want)
			}
		})
	}
}

func TestGrantsPerSecondWantsOneRunWithGrants(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       float64
	}{
		{"a result", `{"runs":[{"design":"x","grants_per_s":1234.5}]}`, 1234.5},
		{"no run", `{"runs":[]}`, 0},
		{"two runs", `{"runs":[{"grants_per_s":1},{"grants_per_s":2}]}`, 0},
		{"no grants", `{"runs":[{"grants_per_s":0}]}`, 0},
		{"no JSON", `grants`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "result.json")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := grantsPerSecond(path)
			if got != c.want || (err == nil) != (c.want > 0) {
				t.Errorf("got %v, error %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestEverySubjectHasItsTurn(t *testing.T) {
	if _, err := exec.LookPath("redis-benchmark"); err != nil {
		t.Skip(err)
	}
	servertest.Start(t) // skips if there is no server program
	result := filepath.Join(t.TempDir(), "fixed.json")
	if err := os.WriteFile(result, []byte(`{"runs":[{"grants_per_s":42}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err := run(context.Background(), &out, []string{
		"-rounds", "2", "-clients", "2", "-requests", "200", "-duration", (10 * time.Millisecond).String(),
		"-subject", "fixed=cp " + result + " {out}",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`redis-benchmark +\d+ `, `bare loop +\d+ `, `unrecorded +\d+ `, `recorded +\d+ `, `fixed +42 +42 +42 +\d+\.\d{3} `} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("report lacks a line %q:\n%s", want, out.String())
		}
	}
}

func TestParseRefusesNothingToMeasure(t *testing.T) {
	for _, args := range []string{"-rounds 0", "-clients 0", "-requests 1", "-duration 0s", "-subject lockbench"} {
		t.Run(args, func(t *testing.T) {
			if _, err := parse(strings.Fields(args)); err == nil {
				t.Error("accepted")
			}
		})
	}
}
