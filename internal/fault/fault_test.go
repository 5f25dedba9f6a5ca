package fault

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
		{"down,n=3,while=any", Fault{Kind: Down, At: 500 * time.Millisecond, N: 3}},
		{"clock-step,by=-3s,n=2", Fault{Kind: ClockStep, At: 500 * time.Millisecond, Every: time.Second, By: -3 * time.Second, N: 2, While: Held}},
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
		{"down,n=0", "n=0 is no number from 1 to 1000000"},
		{"throttle,n=1000001", "n=1000001 is no number from 1 to 1000000"},
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

// FuzzParse: every readable fault is written in a form that reads back the
// same.
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
	for _, c := range []struct {
		faults  []Fault
		servers int
		want    string
	}{
		{[]Fault{{Kind: Down, N: 2}}, 1, "affects 2 servers, there are 1"},
		{[]Fault{{Kind: Down, N: 2}}, 5, ""},
		{[]Fault{{Kind: Throttle, N: 2}}, 1, ""},
		{[]Fault{{Kind: ServerPause, For: 10 * time.Second}}, 1, "longer than clients wait"},
		{[]Fault{{Kind: Crash}}, 1, "would never occur"},
		{[]Fault{{Kind: SlowReply, P: 1}}, 1, "unknown fault"},
		{[]Fault{{Kind: Failover}, {Kind: ClockStep, N: 1}}, 1, "cannot be had with failover"},
		{[]Fault{{Kind: Crash, P: 1}, {Kind: Crash, P: 0.5}}, 1, "asked for twice"},
	} {
		err := Check(c.faults, c.servers)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v on %d servers: got %v, want %q", c.faults, c.servers, err, c.want)
		}
	}
}

// TestOfOneServer sees that a lock on one server is not asked to lose two.
func TestOfOneServer(t *testing.T) {
	got := OfOneServer([]Fault{{Kind: Down, N: 2}, {Kind: ClockStep, N: 3}, {Kind: Throttle, N: 7}, {Kind: Crash}})
	want := []Fault{{Kind: ClockStep, N: 1}, {Kind: Throttle, N: 7}, {Kind: Crash}}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

// TestFilled: meanings of zero.
func TestFilled(t *testing.T) {
	const pastLease, tolerance = 7 * time.Second, 2 * time.Second
	for _, c := range []struct{ got, want Fault }{
		{Fault{Kind: Pause}, Fault{Kind: Pause, For: pastLease}},
		{Fault{Kind: Pause, For: time.Second}, Fault{Kind: Pause, For: time.Second}},
		{Fault{Kind: BlackHole}, Fault{Kind: BlackHole, For: longestSilence}},
		{Fault{Kind: Down}, Fault{Kind: Down}},
		{Fault{Kind: Skew}, Fault{Kind: Skew, By: tolerance + time.Second}},
		{Fault{Kind: ClockStep}, Fault{Kind: ClockStep, By: pastLease}},
	} {
		if got := c.got.Filled(pastLease, tolerance); got != c.want {
			t.Errorf("%+v is filled to %+v, want %+v", c.got, got, c.want)
		}
	}
}
