package matrix

import (
	"slices"
	"testing"

	"time"

	"github.com/lockbench/lockbench/impls"
)

func TestFitting(t *testing.T) {
	for _, c := range []struct {
		budget  time.Duration
		designs int
		want    int
	}{
		{time.Second, 2, 0},
		{10 * time.Second, 2, 0},
		{12 * time.Second, 2, 1},
		{5 * time.Minute, 20, 2},
		{6 * time.Minute, 20, 3},
		{8 * time.Minute, 20, 4},
		{10 * time.Minute, 20, 5},
		{time.Hour, 2, 5},
	} {
		s := Settings{Budget: c.budget, Length: 3600 * time.Millisecond}
		if got := s.affordable(c.designs); got != c.want {
			t.Errorf("%v for %d designs: got %d parts, want %d", c.budget, c.designs, got, c.want)
		}
	}
}

// TestPartsHaveTheFaultsThatArePossible checks that a design on Redis is tested with all faults,
// and a design on files only with faults of processes.
func TestPartsHaveTheFaultsThatArePossible(t *testing.T) {
	redis, err := impls.Match("lua-token/strategy")
	if err != nil {
		t.Fatal(err)
	}
	files, err := impls.Match("file/excl")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range liveParts() {
		if got, has := p.forDesign(redis[0]); !has || !slices.Equal(got.faults, p.faults) {
			t.Errorf("%s on Redis: got %q, %t, want all of %q", p.name, got.faults, has, p.faults)
		}
	}
	want := map[string][]string{"live faults": {"crash", "cancel", "pause"}, "live failover": nil, "live skew": {"skew"}}
	for _, p := range liveParts() {
		faults, faulty := want[p.name]
		if got, has := p.forDesign(files[0]); has == (faulty && faults == nil) || faulty && !slices.Equal(got.faults, faults) {
			t.Errorf("%s on files: got %q, %t, want %q", p.name, got.faults, has, faults)
		}
	}
}
