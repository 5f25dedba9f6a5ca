package workloads

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseStages(t *testing.T) {
	want := Stages{{30 * time.Second, 100}, {0, 50.5}, {time.Minute, 1000}, {30 * time.Second, 0}}
	got, err := parseStages("30s:100, 0s:50.5,1m:1e3,30s:0")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("stages (-got +want):\n%s", diff)
	}
	if got, want := got.String(), "30s:100,0s:50.5,1m0s:1000,30s:0"; got != want {
		t.Errorf("text: got %q, want %q", got, want)
	}
	if got, want := got.Length(), 2*time.Minute; got != want {
		t.Errorf("length: got %v, want %v", got, want)
	}
}

func TestParseStagesRefuses(t *testing.T) {
	for text, why := range map[string]string{
		"":                                     "no rate",
		"30s":                                  "no rate",
		"30s:100,":                             "no rate",
		"100:30s":                              `"100" is no duration`,
		"30s:fast":                             `"fast" is no rate`,
		"30s:-1":                               "-1 is no rate",
		"30s:NaN":                              "NaN is no rate",
		"30s:2e9":                              "2e+09 is no rate",
		"-1s:5":                                "-1s is negative",
		"1001h:5":                              "1001h0m0s is too long",
		"1s:1" + strings.Repeat(",1s:1", 1000): "1001 of them",
	} {
		_, err := parseStages(text)
		if err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "hint:") {
			t.Errorf("%.20q: got error %v, want one with %q and a hint", text, err, why)
		}
	}
}

func TestValidateOpenLoop(t *testing.T) {
	for _, c := range []struct {
		name   string
		in     Program
		change func(*Options)
		want   string
	}{
		{"rate", Must("mutex"), func(o *Options) { o.Rate = 1000 }, ""},
		{"stages", Must("mutex"), func(o *Options) { o.Stages, o.Duration = Stages{{time.Second, 5}}, 0 }, ""},
		{"stages cut short", Must("mutex"), func(o *Options) { o.Stages = Stages{{time.Hour, 5}} }, ""},
		{"negative rate", Must("mutex"), func(o *Options) { o.Rate = -1 }, "rate -1"},
		{"unknown model", Must("mutex"), func(o *Options) { o.Rate, o.Arrival = 1, "poison" }, "did you mean poisson"},
		{"model without a rate", Must("mutex"), func(o *Options) { o.Arrival = Constant }, "arrival constant: nothing arrives"},
		{"time to think", Must("mutex"), func(o *Options) { o.Rate, o.Think = 1, Always(1) }, "think 1ns"},
		{"stages shorter than the run", Must("mutex"), func(o *Options) { o.Stages = Stages{{time.Second, 5}} }, "duration 5s: the stages end after 1s"},
		{"stages without length", Must("mutex"), func(o *Options) { o.Stages, o.Duration = Stages{{0, 5}}, 0 }, "over at once"},
		{"nobody comes", Must("mutex"), func(o *Options) { o.Stages, o.Duration = Stages{{time.Hour, 0}}, 0 }, "less than one arrival in 1h0m0s"},
		{"a stage that is none", Must("mutex"), func(o *Options) { o.Stages = Stages{{-1, 5}} }, "stage -1ns:5"},
		{"a timetable of its own", Must("cron"), func(o *Options) { o.Rate = 1000 }, "rate 1000: workload cron has a timetable of its own"},
		{"stages for it", Must("cron"), func(o *Options) { o.Stages = Stages{{time.Minute, 5}} }, "stages 1m0s:5: workload cron"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Defaults()
			c.change(&o)
			_, err := c.in.Options(o)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "hint:") && !strings.Contains(err.Error(), "did you mean")):
				t.Errorf("got error %v, want one with %q and a hint", err, c.want)
			}
		})
	}
}

// TestOpenLoopJSON: options of a closed loop have no fields of arrivals, so that
// saved results stay comparable; options of an open loop are read back whole.
func TestOpenLoopJSON(t *testing.T) {
	text, err := json.Marshal(Defaults())
	if err != nil || strings.Contains(string(text), "rate") || strings.Contains(string(text), "stages") {
		t.Errorf("closed loop: got %s, %v; want nothing of arrivals", text, err)
	}
	want := Defaults()
	want.Rate, want.Arrival, want.Stages, want.Duration = 7, Constant, Stages{{time.Second, 0.5}, {time.Minute, 5}}, 0
	want = want.OrDefaults()
	if text, err = json.Marshal(want); err != nil {
		t.Fatal(err)
	}
	var got Options
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, want, cmp.Comparer(func(a, b Distribution) bool { return a == b })); diff != "" {
		t.Errorf("options after JSON (-got +want):\n%s", diff)
	}
	if want := time.Minute + time.Second; got.Duration != want {
		t.Errorf("duration: got %v, want %v", got.Duration, want)
	}
}

func FuzzParseStages(f *testing.F) {
	f.Add("30s:100,1m:1000,30s:0")
	f.Add("0s:5,1h:0.001")
	f.Add("1ns:1e9,1000h:1e-300")
	f.Fuzz(func(t *testing.T, text string) {
		stages, err := parseStages(text)
		if err != nil {
			return
		}
		again, err := parseStages(stages.String())
		if err != nil {
			t.Fatalf("%q, from %q, is refused: %v", stages, text, err)
		}
		if diff := cmp.Diff(again, stages); diff != "" {
			t.Fatalf("%q is read as other stages (-got +want):\n%s", stages, diff)
		}
	})
}
