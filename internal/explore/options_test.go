package explore

import (
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
)

// TestConfigErrors wants the value, the reason and a hint of each.
func TestConfigErrors(t *testing.T) {
	known := design.Design{Name: "a/b", Open: func(design.Environment) (design.Process, error) { return nil, nil }}
	for _, c := range []struct {
		name string
		cfg  Config
		want string // empty: it is fine
	}{
		{"defaults", Config{Design: known}, ""},
		{"the most", Config{Design: known, Clients: 64, Rounds: 1000, Threads: 64, TTL: 24 * time.Hour}, ""},
		{"clients", Config{Design: known, Clients: -1}, "clients -1: too few; hint: from 1 to 64"},
		{"too many", Config{Design: known, Rounds: 1001}, "rounds 1001: too many; hint: from 1 to 1000"},
		{"faults", Config{Design: known, Faults: 2_000_000_000}, "faults 2000000000: too many; hint: from 0 to 1048576"},
		{"moves", Config{Design: known, Moves: 2_000_000_000}, "moves 2000000000: too many; hint: from 0 to 1048576"},
		{"pool", Config{Design: known, Pool: -2}, "pool -2: too few; hint: from 0 to 65536"},
		{"schedules", Config{Design: known, Schedules: -1}, "schedules -1: too few"},
		{"short lease", Config{Design: known, TTL: time.Microsecond}, "ttl 1µs: too short; hint: from 1ms to 24h0m0s"},
		{"long lease", Config{Design: known, TTL: 25 * time.Hour}, "ttl 25h0m0s: too long"},
		{"wait", Config{Design: known, Wait: -time.Second}, "wait -1s: too short; hint: from 0s"},
		{"skew", Config{Design: known, Skew: 48 * time.Hour}, "skew 48h0m0s: too long"},
		{"budget", Config{Design: known, Budget: -time.Second}, "budget -1s: "},
		{"strategy", Config{Design: known, Strategy: "randon"}, `unknown strategy "randon"; hint: did you mean random`},
		{"kind", Config{Design: known, Kinds: []fault.Kind{"cot"}}, `unknown fault "cot"; hint: did you mean cut`},
		{"scenario", Config{Design: known, Scenario: "contends"}, `unknown scenario "contends"; hint: did you mean contend`},
		{"no design", Config{}, `design "" cannot be opened; hint: `},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := c.cfg.resolve()
			switch {
			case c.want == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestCoverageSentence(t *testing.T) {
	for _, c := range []struct {
		cov  Coverage
		want string
	}{
		{Coverage{Strategy: Exhaustive, Clients: 2, Rounds: 2, Faults: 1, Moves: 2, Schedules: 11110, Complete: true},
			"exhaustive: 2 clients, 2 rounds, 1 fault, 2 time moves: all 11,110 schedules"},
		{Coverage{Strategy: Random, Clients: 1, Rounds: 1, Schedules: 1000000, Stopped: "budget"},
			"random: 1 client, 1 round, 0 faults, 0 time moves: 1,000,000 schedules of an unknown number"},
		{Coverage{Strategy: PCT, Clients: 3, Rounds: 1, Schedules: 1, Stopped: "schedules"},
			"pct: 3 clients, 1 round, 0 faults, 0 time moves: 1 schedule of an unknown number"},
	} {
		if got := c.cov.Sentence(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
