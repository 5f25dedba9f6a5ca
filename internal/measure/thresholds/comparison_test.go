package thresholds

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/measure"
)

func TestParseThreshold(t *testing.T) {
	type parts struct {
		Scope, Metric string
		Relation      Relation
		Bound         float64
	}
	for text, want := range map[string]parts{
		"acquire.p99>20ms":                {"", "acquire.p99", Above, 20e6},
		" acquire.p99  >= 1.5s ":          {"", "acquire.p99", AtLeast, 1.5e9},
		"acquire.p99.95<1us":              {"", "acquire.p99.95", Below, 1e3},
		"handoff.max>=1s":                 {"", "handoff.max", AtLeast, 1e9},
		"exclusion.violations>0":          {"", "exclusion.violations", Above, 0},
		"owner-release.violations != 0":   {"", "owner-release.violations", NotEqual, 0},
		"grants_per_s<1000":               {"", "grants_per_s", Below, 1000},
		"grants_per_s<1000/s":             {"", "grants_per_s", Below, 1000},
		"commands_per_grant>3.5":          {"", "commands_per_grant", Above, 3.5},
		"refused.share>10%":               {"", "refused.share", Above, 0.1},
		"refused.share<=0.1":              {"", "refused.share", AtMost, 0.1},
		"grants==1e6":                     {"", "grants", Equal, 1e6},
		"lua-token/*: acquire.max>1m":     {"lua-token/*", "acquire.max", Above, 60e9},
		"lua-token/token:fairness.jain<1": {"lua-token/token", "fairness.jain", Below, 1},
	} {
		t.Run(text, func(t *testing.T) {
			got, err := ParseThreshold(text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(parts{got.Scope, got.Metric.Name, got.Relation, got.Bound}, want); diff != "" {
				t.Errorf("threshold (-got +want):\n%s", diff)
			}
			sameAgain(t, got)
		})
	}
}

// sameAgain checks that parsing the text of a threshold gives the threshold.
func sameAgain(t *testing.T, first Threshold) {
	t.Helper()
	again, err := ParseThreshold(first.String())
	if err != nil {
		t.Fatalf("%q, written by String: %v", first, err)
	}
	if again.Scope != first.Scope || again.Metric.Name != first.Metric.Name || again.Relation != first.Relation || again.Bound != first.Bound {
		t.Errorf("%q is read as %+v, was %+v", first, again, first)
	}
}

func TestParseThresholdRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                               `nothing is compared; hint: METRIC>VALUE`,
		"acquire.p99":                    `nothing is compared`,
		"acquire.p99=20ms":               `"=" is no comparison; hint: one of >,`,
		"aquire.p99>20ms":                `unknown metric "aquire.p99"; hint: did you mean acquire.p99`,
		"acquire.p101>20ms":              `unknown metric "acquire.p101"`,
		"acquire.p0>20ms":                `unknown metric "acquire.p0"`,
		"latency>20ms":                   `lockbench list metrics has all`,
		">20ms":                          `unknown metric ""`,
		"acquire.p99>20":                 `20 has no unit of time, and acquire.p99 takes a duration; hint: acquire.p99>20ms`,
		"acquire.p99>10%":                `"10%" is no duration`,
		"acquire.p99>9999h":              `9999h is longer than 2501h`,
		"acquire.p99>-1s":                `-1s is below zero`,
		"acquire.p99>":                   `"" is no duration`,
		"exclusion.violations>1ms":       `1ms is a duration, and exclusion.violations takes a count; hint: exclusion.violations>0`,
		"exclusion@failver.violations>0": `unknown condition "failver"; hint: did you mean failover`,
		"exclsion@crash.violations>0":    `unknown guarantee "exclsion"; hint: did you mean exclusion`,
		"exclusion@.violations>0":        `names no condition after @`,
		"exlusion.violations>0":          `unknown guarantee "exlusion"; hint: did you mean exclusion? known are exclusion, lease`,
		"lost-reply.violations>0":        `unknown guarantee "lost-reply"; hint: it is a condition, as in exclusion@lost-reply`,
		"exclusion@crash.violatons>0":    `unknown metric "exclusion@crash.violatons"; hint: did you mean exclusion.violations`,
		"exclusion.violations>1.5":       `1.5 is not a whole number`,
		"exclusion.violations>5%":        `5% is a share`,
		"exclusion.violations>Inf":       `"Inf" is no number`,
		"refused.share>20ms":             `20ms is a duration, and refused.share takes a share; hint: refused.share>10%`,
		"refused.share>200%":             `200% is more than all`,
		"grants_per_s==1000":             `equality would be luck`,
		"acquire.p99>20ms>30ms":          `"20ms>30ms" is no duration`,
		": acquire.p99>20ms":             `no design before the colon`,
		"[: acquire.p99>20ms":            `scope "["`,
	} {
		t.Run(text, func(t *testing.T) {
			_, err := ParseThreshold(text)
			if err == nil {
				t.Fatal("got no error")
			}
			if got := err.Error(); !strings.Contains(got, want) || !strings.Contains(got, "; hint: ") {
				t.Errorf("got %q, want %q and a hint in it", got, want)
			}
		})
	}
}

func TestHolds(t *testing.T) {
	for text, want := range map[string][3]bool{ // of 4, 5 and 6
		"grants>5": {false, false, true}, "grants>=5": {false, true, true},
		"grants<5": {true, false, false}, "grants<=5": {true, true, false},
		"grants==5": {false, true, false}, "grants!=5": {true, false, true},
	} {
		c, err := ParseComparison(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]bool{c.Holds(4), c.Holds(5), c.Holds(6)}; got != want {
			t.Errorf("%s of 4, 5 and 6: got %v, want %v", text, got, want)
		}
	}
}

func TestCanSettle(t *testing.T) {
	for text, want := range map[string]bool{
		"exclusion.violations>0": true, "acquire.max>=1s": true, "failed.count!=0": true,
		"exclusion.violations<5": false, "failed.count!=3": false, "failed.count==3": false,
		"acquire.p99>1s": false, "acquire.mean>1s": false, "refused.share>10%": false, "grants_per_s>5": false,
	} {
		c, err := ParseComparison(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.CanSettle(); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

// TestRegistry checks that every metric can be found by its name and has all fields that lists
// show, and that every guarantee and every operation has metrics.
func TestRegistry(t *testing.T) {
	seen := make(map[string]bool)
	for _, m := range Metrics() {
		if seen[m.Name] {
			t.Errorf("%s is there twice", m.Name)
		}
		seen[m.Name] = true
		found, err := Find(m.Name)
		if err != nil || found.Name != m.Name {
			t.Errorf("Find(%q): got %q, %v", m.Name, found.Name, err)
		}
		if m.Sources == 0 || found.Sources != m.Sources {
			t.Errorf("%s: sources %d, found by name %d, want the same and some", m.Name, m.Sources, found.Sources)
		}
		if m.Summary == "" || strings.HasPrefix(m.Summary, ",") || m.read == nil || examples[m.Unit] == "" {
			t.Errorf("%s lacks a summary, a unit or a way to read it: %+v", m.Name, m)
		}
	}
	for _, g := range lockbench.Guarantees() {
		if name := string(g.Name) + ".violations"; !seen[name] {
			t.Errorf("there is no %s", name)
		}
	}
	for _, op := range measure.Ops() {
		if !seen[op.String()+".p99"] {
			t.Errorf("there is no %s.p99", op)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		unit  Unit
		value float64
		want  string
	}{
		{Duration, 31_234_567, "31.2ms"}, {Duration, 850, "850ns"}, {Duration, 1234, "1.23us"}, {Duration, 0, "0s"},
		{Count, 1234567, "1234567"}, {Share, 0.1234, "12.3%"}, {Rate, 1234.5, "1234/s"},
		{Number, 2.517, "2.52"}, {Number, 3, "3"},
	} {
		if got := c.unit.Format(c.value); got != c.want {
			t.Errorf("%v as %s: got %s, want %s", c.value, c.unit, got, c.want)
		}
	}
}

func FuzzParseThreshold(f *testing.F) {
	for _, text := range []string{
		"acquire.p99>20ms", "lua-token/*: refused.share >= 10%", "exclusion.violations!=0", "a:b:c<1", "grants>1e308",
		"acquire.p99.9999999>1s", "acquire.max>2562047h47m16.854775807s", "[a-: grants<1", "x\\: grants<1", "grants>0x1p4",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		th, err := ParseThreshold(text)
		if err != nil {
			if !strings.Contains(err.Error(), "; hint: ") {
				t.Errorf("%q: no hint in %q", text, err)
			}
			return
		}
		sameAgain(t, th)
	})
}
