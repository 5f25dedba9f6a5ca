package thresholds

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

func TestFiguresOfBusiness(t *testing.T) {
	threshold, err := ParseThreshold("oversold>0")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		its  *runinfo.Business
		want Outcome
		why  string
	}{
		{"oversold", &runinfo.Business{Figures: map[string]int64{"oversold": 1}}, Failed, ""},
		{"sound", &runinfo.Business{Figures: map[string]int64{"oversold": 0}}, Passed, ""},
		{"another workload", &runinfo.Business{Figures: map[string]int64{"repeated": 0}}, Inconclusive, "this workload does not count it; workload oversell does"},
		{"nothing counted", nil, Inconclusive, "workload oversell counts it"},
		{"lost data", &runinfo.Business{Why: "the server was lost"}, Inconclusive, "the server was lost"},
	} {
		outcome, found := threshold.Judge(&Run{Verdicts: &checker.Result{}, Measures: &measure.Measures{Business: c.its}})
		if outcome != c.want || !strings.Contains(found.Why, c.why) {
			t.Errorf("%s: %v, %q; want %v, %q", c.name, outcome, found.Why, c.want, c.why)
		}
	}
}
