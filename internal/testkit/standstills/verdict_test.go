//go:build unix

package standstills

import (
	"strings"
	"testing"
	"time"
)

// TestVerdict: results that fail a campaign, and results that do not.
func TestVerdict(t *testing.T) {
	quiet := outcome{Grants: 100, Standstill: time.Second}
	outlived := outcome{Grants: 100, Standstill: time.Second, Overlaps: 1}
	accused := outcome{Grants: 100, Standstill: time.Second, Against: []string{"exclusion 1/9"}}
	caught := outcome{Grants: 100, Standstill: time.Second, Overlaps: 2, Against: []string{"exclusion 2/9"}}
	starved := outcome{Error: "fork/exec redis-server: cannot allocate memory"}
	cut := outcome{Grants: 3, Overlaps: 1, Error: "signal: killed"}
	contradicts := outcome{Grants: 100, Standstill: time.Second, Overlaps: 1, Defects: []string{"the occupancy monitor saw 1 overlaps"}}
	still := outcome{Grants: 100}
	twenty := func(o, last outcome) (all []outcome) {
		for range 19 {
			all = append(all, o)
		}
		return append(all, last)
	}
	for name, c := range map[string]struct {
		sound, mutants []outcome
		want           string // in the error; empty for none
	}{
		"all as it should be":          {[]outcome{quiet, outlived}, []outcome{caught, quiet}, ""},
		"a sound lock accused":         {[]outcome{quiet, accused}, []outcome{caught}, "accused in 1 of 2"},
		"a sound lock contradicted":    {[]outcome{quiet, contradicts}, []outcome{caught}, "contradicts itself in 1 of 2"},
		"a mutant missed":              {[]outcome{quiet}, []outcome{caught, outlived}, "1 of 2 runs in which two were inside"},
		"a mutant missed by a defect":  {[]outcome{quiet}, []outcome{caught, contradicts}, "1 of 2 runs in which two were inside"},
		"one missed of twenty":         {[]outcome{quiet}, twenty(caught, outlived), ""},
		"a mutant that does no harm":   {[]outcome{quiet}, []outcome{caught, quiet, accused}, ""},
		"some runs out of memory":      {[]outcome{quiet, starved}, []outcome{caught, starved, cut}, ""},
		"all runs out of memory":       {[]outcome{starved}, []outcome{starved}, "0 of 1 judged"},
		"nobody stood still":           {[]outcome{still}, []outcome{caught}, "show nothing"},
		"no mutant had two inside":     {[]outcome{quiet}, []outcome{quiet}, "two inside in none"},
		"accused before it was killed": {[]outcome{quiet, {Against: []string{"lease 1/2"}, Error: "signal: killed"}}, []outcome{caught}, "accused in 1 of 2"},
	} {
		var trials []trial
		for range c.sound {
			trials = append(trials, trial{who: driver})
		}
		for range c.mutants {
			trials = append(trials, trial{who: both, mutant: true})
		}
		err := tableOf(trials, append(c.sound, c.mutants...)).verdict()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
