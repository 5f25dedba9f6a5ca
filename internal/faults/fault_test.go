package faults

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/servers"
	"github.com/lockbench/lockbench/internal/servertest"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want Fault
	}{
		{"crash", Fault{Kind: Crash, P: 0.001}},
		{"crash,p=0.5", Fault{Kind: Crash, P: 0.5}},
		{"lost-reply,at=2s", Fault{Kind: LostReply, At: 2 * time.Second}},
		{"lost-reply,at=2s,p=0.5", Fault{Kind: LostReply, At: 2 * time.Second, P: 0.5}},
		{"lost-reply,p=0.5,at=2s", Fault{Kind: LostReply, At: 2 * time.Second, P: 0.5}},
		{"pause,p=0.01,while=held,for=3s", Fault{Kind: Pause, P: 0.01, While: Held, For: 3 * time.Second}},
		{"pause, while=any", Fault{Kind: Pause, P: 0.01}},
		{"restart,at=5s,every=0s", Fault{Kind: Restart, At: 5 * time.Second, While: Held}},
		{"skew,by=2s", Fault{Kind: Skew, By: 2 * time.Second}},
		{"down,n=3,while=any", Fault{Kind: Down, At: time.Second, N: 3}},
		{"clock-step,by=-3s,n=2", Fault{Kind: ClockStep, At: time.Second, Every: time.Second, By: -3 * time.Second, N: 2, While: Held}},
	} {
		t.Run(c.text, func(t *testing.T) {
			got, err := Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("fault (-got +want):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "unknown fault"},
		{"crach", "did you mean crash"},
		{"crash,p=2", "p=2 is no probability; hint: 0 to 1"},
		{"crash,p=NaN", "no probability"},
		{"crash,for=2s", "fault crash: it has no setting for; hint: it has at, until, every, while, p"},
		{"crash,pp=1", "unknown setting"},
		{"crash,soon", `"soon" is no setting; hint: name=value`},
		{"restart,at=5", "at=5 is no duration; hint: at=2s"},
		{"restart,at=-5s", "negative"},
		{"down,n=0", "n=0 is no number above 0"},
		{"pause,while=free", "while=free is no condition; hint: while=held"},
		{"skew,by=-2s", "negative"},
		{"clock-step,by=--2s", "negative"},
		{"clock-step,by=-2", "by=2 is no duration"},
		{"skew,at=2s", "fault skew: it has no setting at; hint: it has by"},
	} {
		t.Run(c.text, func(t *testing.T) {
			f, err := Parse(c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %+v, %v; want an error with %q", f, err, c.want)
			}
		})
	}
}

// FuzzParse: what can be read is written so that it reads the same again.
func FuzzParse(f *testing.F) {
	for _, k := range Kinds() {
		usual, err := Usual(k)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(usual.String())
	}
	f.Add("pause,p=0.01,while=any,for=3s,every=1m,at=1ns")
	f.Fuzz(func(t *testing.T, text string) {
		first, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(first.String())
		if err != nil || again != first {
			t.Errorf("%q reads as %+v, its text %q as %+v, %v", text, first, first.String(), again, err)
		}
	})
}

// TestEveryKindTouchesOrSaysWhyNot: what a kind exercises is exercised under conditions
// that it brings, or under those that follow from a holder that stands still.
func TestEveryKindTouchesOrSaysWhyNot(t *testing.T) {
	for _, row := range traits {
		if (row.conditions == 0) == (row.untouched == "") {
			t.Errorf("%s brings %q and is untouched because %q; want one of the two", row.kind, row.conditions, row.untouched)
		}
		brings := Conditions([]Fault{{Kind: row.kind}})
		if row.kind == Pause {
			brings |= lockbench.Outlived
		}
		for _, cell := range row.exercises {
			if cell.Under == 0 || !brings.Has(cell.Under) {
				t.Errorf("%s exercises %s, and brings %q", row.kind, cell, brings)
			}
		}
	}
}

func TestExercises(t *testing.T) {
	all := []Fault{{Kind: Restart}, {Kind: Crash}, {Kind: Evict}, {Kind: Slow}, {Kind: "none"}}
	var got []string
	for _, cell := range Exercises(all) {
		got = append(got, cell.String())
	}
	if diff := cmp.Diff(got, []string{"exclusion@state-loss", "recovery@crash"}); diff != "" {
		t.Errorf("exercises (-got +want):\n%s", diff)
	}
	if got := Conditions(all).String(); got != "crash+lost-reply+script-flush+state-loss" {
		t.Errorf("conditions %s", got)
	}
}

func TestCheck(t *testing.T) {
	private := servertest.Start(t)
	embedded, err := servers.StartEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = embedded.Close() })
	external, err := servers.Connect(t.Context(), private.Address())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fault string
		on    *servers.Server
		want  string
	}{
		{"crash", external, ""},
		{"lost-reply", external, ""},
		{"script-flush", external, "would harm a server that lockbench did not start; hint: leave --redis out"},
		{"server-pause", external, "would harm"},
		{"restart", external, "would harm"},
		{"restart-aof", external, "would harm"},
		{"failover", external, "would harm"},
		{"down", external, "would harm"},
		{"client-kill", external, "would harm"},
		{"evict", external, "would harm"},
		{"clock-step", external, "would harm"},
		{"clock-step", embedded, "needs a server process"},
		{"slow", external, "needs a server reached by TCP"},
		{"script-flush", embedded, ""},
		{"restart", embedded, "needs a server process"},
		{"black-hole", embedded, "needs a server reached by TCP"},
		{"restart", private, ""},
		{"slow", private, ""},
		{"down,n=2", private, "affects 2 servers, there are 1"},
		{"server-pause,for=10s", private, "longer than clients wait"},
		{"crash,p=0", private, "would never occur"},
	} {
		t.Run(c.fault+" on "+c.on.Kind(), func(t *testing.T) {
			f, err := Parse(c.fault)
			if err != nil {
				t.Fatal(err)
			}
			err = Check([]Fault{f}, []*servers.Server{c.on})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	together := []Fault{{Kind: Failover}, {Kind: ClockStep, N: 1}}
	if err := Check(together, []*servers.Server{private}); err == nil {
		t.Error("a stepped clock and a failover pass; want an error")
	}
	twice := []Fault{{Kind: Crash, P: 1}, {Kind: Crash, P: 0.5}}
	if err := Check(twice, []*servers.Server{private}); err == nil {
		t.Error("the same kind twice passes; want an error")
	}
}
