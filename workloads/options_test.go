package workloads

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDefaultsAreValid(t *testing.T) {
	for _, w := range By(Live) {
		t.Run(w.Name, func(t *testing.T) {
			if _, err := w.Options(Defaults()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Options)
		want   []string // parts of the error: the value and the reason
	}{
		{"no clients", func(o *Options) { o.Clients = 0 }, []string{"clients 0"}},
		{"negative keys", func(o *Options) { o.Keys = -1 }, []string{"keys -1"}},
		{"more processes than clients", func(o *Options) { o.Processes = 9 }, []string{"processes 9", "8 clients"}},
		{"negative processes", func(o *Options) { o.Processes = -1 }, []string{"processes -1"}},
		{"clients beyond the memory", func(o *Options) { o.Clients = 2_000_000_000 }, []string{"clients 2000000000", "at most 10000"}},
		{"clients with keys of their own", func(o *Options) { o.Clients, o.KeyChoice = 10_001, Own }, []string{"clients 10001", "at most 10000"}},
		{"processes beyond the memory", func(o *Options) { o.Processes = 2_000_000_000 }, []string{"processes 2000000000", "at most 8"}},
		{"keys beyond the memory", func(o *Options) { o.Keys = 2_000_000_000 }, []string{"keys 2000000000", "at most 1000000"}},
		{"stallers beyond the memory", func(o *Options) { o.Stallers = 10_001 }, []string{"stallers 10001", "at most 10000"}},
		{"operations without an end", func(o *Options) { o.Operations = math.MaxInt64 }, []string{"operations 9223372036854775807", "at most 1000000000000000"}},
		{"stock that no script counts", func(o *Options) { o.Stock = 1e15 + 1 }, []string{"stock 1000000000000001", "at most 1000000000000000"}},
		{"threshold that no script counts", func(o *Options) { o.Threshold = math.MaxInt64 }, []string{"threshold 9223372036854775807", "at most 1000000000000000"}},
		{"points that no script counts", func(o *Options) { o.Points = math.MaxInt64 }, []string{"points 9223372036854775807", "at most 1000000000000000"}},
		{"depth beyond the stack", func(o *Options) { o.Depth = 2_000_000_000 }, []string{"depth 2000000000", "1000"}},
		{"no lease", func(o *Options) { o.TTL = 0 }, []string{"ttl 0s", "locks nothing"}},
		{"negative lease", func(o *Options) { o.TTL = -time.Second }, []string{"ttl -1s"}},
		{"endless lease", func(o *Options) { o.TTL = 25 * time.Hour }, []string{"ttl 25h"}},
		{"negative nested lease", func(o *Options) { o.NestedTTL = -1 }, []string{"nested ttl -1ns"}},
		{"negative wait", func(o *Options) { o.Wait = -1 }, []string{"wait -1ns"}},
		{"hold longer than the run", func(o *Options) { o.Hold = Always(5 * time.Second) }, []string{"hold 5s", "run of 5s"}},
		{"slow hold longer than the run", func(o *Options) { o.Slow, o.TTL = 0.1, 4*time.Second }, []string{"5s", "ttl 4s", "1.25"}},
		{"warm-up as long as the run", func(o *Options) { o.Warmup = 5 * time.Second }, []string{"warm-up 5s"}},
		{"negative warm-up", func(o *Options) { o.Warmup = -1 }, []string{"warm-up -1ns"}},
		{"own keys counted otherwise", func(o *Options) { o.KeyChoice, o.Keys = Own, 3 }, []string{"keys 3", "8 clients"}},
		{"negative stallers", func(o *Options) { o.Stallers = -1 }, []string{"stallers -1"}},
		{"share above one", func(o *Options) { o.Slow = 1.5 }, []string{"slow 1.5"}},
		{"share that is no number", func(o *Options) { o.Slow = math.NaN() }, []string{"slow NaN"}},
		{"slow factor of a fast hold", func(o *Options) { o.SlowFactor = 0.9 }, []string{"slow factor 0.9"}},
		{"unknown key choice", func(o *Options) { o.KeyChoice = "zpif" }, []string{`"zpif"`, "did you mean zipf"}},
		{"no end", func(o *Options) { o.Duration = 0 }, []string{"never end"}},
		{"negative duration", func(o *Options) { o.Duration = -1 }, []string{"duration -1ns"}},
		{"negative operations", func(o *Options) { o.Operations = -1 }, []string{"operations -1"}},
		{"negative stock", func(o *Options) { o.Stock = -1 }, []string{"stock -1"}},
		{"points below threshold", func(o *Options) { o.Points = 5 }, []string{"points 5", "threshold of 10"}},
		{"negative threshold", func(o *Options) { o.Threshold = -1 }, []string{"threshold -1"}},
		{"negative depth", func(o *Options) { o.Depth = -1 }, []string{"depth -1"}},
		{"negative period", func(o *Options) { o.Period = -1 }, []string{"period -1ns"}},
		{"negative delay", func(o *Options) { o.Delay = -1 }, []string{"delay -1ns"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := Defaults()
			tt.change(&o)
			_, err := Must("mutex").Options(o)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, part := range append(tt.want, "hint:") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not contain %q", err, part)
				}
			}
		})
	}
}

func TestOrDefaultsKeys(t *testing.T) {
	tests := []struct {
		choice  string
		clients int
		want    int
	}{{"", 8, 1}, {Zipf, 8, 1}, {Own, 8, 8}, {Pairs, 8, 4}, {Pairs, 7, 4}}
	for _, tt := range tests {
		t.Run(tt.choice, func(t *testing.T) {
			got := Options{Clients: tt.clients, KeyChoice: tt.choice}.OrDefaults().Keys
			if got != tt.want {
				t.Errorf("keys for %d clients = %d, want %d", tt.clients, got, tt.want)
			}
		})
	}
}

func TestOptionsJSONRoundTrip(t *testing.T) {
	want := Defaults()
	want.Think.UnmarshalText([]byte("lognormal:5ms,0.8"))
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Options
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, want, cmp.Comparer(func(a, b Distribution) bool { return a == b })); diff != "" {
		t.Errorf("options after JSON (-got +want):\n%s", diff)
	}
}

// TestStalled: stallers have keys, processes and leases of their own, and no timetable.
func TestStalled(t *testing.T) {
	o := Defaults()
	o.Clients, o.Processes, o.Stallers, o.TTL, o.Rate, o.Operations = 8, 2, 6, time.Minute, 100, 50
	o = o.OrDefaults()
	s, stall := o.Stalled()
	if !stall {
		t.Error("nobody stalls")
	}
	got := []any{s.Clients, s.Keys, s.Processes, s.TTL, s.NestedTTL, s.Hold.String(), s.Think.String(), s.OpenLoop(), s.Operations}
	want := []any{6, 2, 1, stallLease, stallLease, "200ms", "20ms", false, int64(0)}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("clients, keys, processes, ttl ... (-got +want):\n%s", diff)
	}
	o.Stallers = 0
	if _, stall := o.Stalled(); stall {
		t.Error("there are stallers where none were asked for")
	}
}
