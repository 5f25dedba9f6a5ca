package workloads

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
)

// choices returns the choices of client id over n iterations of w on a lock with
// the answers of s.
func choices(t *testing.T, w Program, o Options, id, n int, s *script) []choice {
	t.Helper()
	o, err := w.Options(o)
	if err != nil {
		t.Fatal(err)
	}
	c := NewRun(o, nil).Client(id, s, s)
	var made []choice
	for range n {
		_ = c.Iterate(t.Context(), w)
		made = append(made, c.choice)
	}
	return made
}

func chancy(o *Options) {
	o.Keys, o.KeyChoice, o.Slow = 20, Zipf, 0.2
	o.Hold.UnmarshalText([]byte("lognormal:5ms,0.8"))
	o.Think.UnmarshalText([]byte("exp:1ms"))
}

func TestSameSeedSameChoices(t *testing.T) {
	answers := map[string]func(int) error{
		"granted": nil,
		"refused": refuse,
		"failed":  func(int) error { return errLost },
		"mixed":   func(n int) error { return []error{nil, lockbench.ErrNotAcquired, errLost}[n%3] },
	}
	for _, w := range By(Live) {
		t.Run(w.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 50
				want := choices(t, w, options(chancy), 3, n, &script{value: 1000})
				for name, answer := range answers {
					got := choices(t, w, options(chancy), 3, n, &script{answer: answer, release: errors.New("gone")})
					if diff := cmp.Diff(got, want); diff != "" {
						t.Errorf("choices on a lock that %s (-got +want):\n%s", name, diff)
					}
				}
			})
		})
	}
}

func TestOtherSeedOtherChoices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := choices(t, Must("mutex"), options(chancy), 1, 10, &script{})
		reseeded := choices(t, Must("mutex"), options(func(o *Options) { chancy(o); o.Seed = 2 }), 1, 10, &script{})
		otherClient := choices(t, Must("mutex"), options(chancy), 2, 10, &script{})
		if slices.Equal(base, reseeded) {
			t.Error("seeds 1 and 2 make the same choices")
		}
		if slices.Equal(base, otherClient) {
			t.Error("clients 1 and 2 make the same choices")
		}
	})
}

func TestKeyChoices(t *testing.T) {
	tests := []struct {
		choice  string
		clients int
		first   [2]float64 // bounds of the first key's share for client 0
		client3 [2]float64 // and for client 3
	}{
		{Uniform, 4, [2]float64{0.08, 0.12}, [2]float64{0.08, 0.12}},
		{Zipf, 4, [2]float64{0.30, 0.45}, [2]float64{0.30, 0.45}},
		{Hot, 4, [2]float64{0.88, 0.92}, [2]float64{0.88, 0.92}},
		{Own, 10, [2]float64{1, 1}, [2]float64{0, 0}},
		{Pairs, 4, [2]float64{1, 1}, [2]float64{0, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.choice, func(t *testing.T) {
			o := options(func(o *Options) { o.KeyChoice, o.Clients, o.Keys = tt.choice, tt.clients, 10 }).OrDefaults()
			for client, bounds := range map[int][2]float64{0: tt.first, 3: tt.client3} {
				share := firstShare(t, o, client)
				if share < bounds[0] || share > bounds[1] {
					t.Errorf("client %d: share of the first key = %.3f, want %v", client, share, bounds)
				}
			}
		})
	}
}

func firstShare(t *testing.T, o Options, client int) float64 {
	t.Helper()
	const n = 20_000
	c := NewRun(o, nil).Client(client, nil, nil)
	var first int
	for range n {
		c.choose()
		if k := c.choice.Key; k < 0 || k >= o.Keys {
			t.Fatalf("key %d of %d chosen", k, o.Keys)
		}
		if c.choice.Key == 0 {
			first++
		}
	}
	return float64(first) / n
}

func TestPairsShareAKey(t *testing.T) {
	o := options(func(o *Options) { o.KeyChoice, o.Keys = Pairs, 0 }).OrDefaults()
	var keys []int
	for id := range 4 {
		c := NewRun(o, nil).Client(id, nil, nil)
		c.choose()
		keys = append(keys, c.choice.Key)
	}
	if diff := cmp.Diff(keys, []int{0, 0, 1, 1}); diff != "" {
		t.Errorf("keys of clients 0 to 3 (-got +want):\n%s", diff)
	}
}

func TestVersionsAreUnique(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(map[uint64]bool)
		for id := range 3 {
			s := &script{value: 1000}
			choices(t, Must("oversell"), options(nil), id, 20, s)
			for _, v := range s.version {
				if seen[v] || v < 1<<versionBits {
					t.Fatalf("version %#x written twice, or in the range of the prepared ones", v)
				}
				seen[v] = true
			}
		}
		if len(seen) != 60 {
			t.Errorf("%d versions for 60 writes", len(seen))
		}
	})
}

// TestRefusedClientsPause: 100 refusals at once, without time to think, take some
// time of their own.
func TestRefusedClientsPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, took := step(t, Must("mutex"), options(nil), &script{answer: refuse}, 100)
		if took < 50*time.Millisecond || took > 200*time.Millisecond {
			t.Errorf("100 refusals took %v of virtual time, want about 100ms", took)
		}
	})
}

func TestFailedClientsPauseLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, took := step(t, Must("mutex"), options(nil), &script{answer: func(int) error { return errLost }}, 12)
		if want := (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 10 + 10) * errorPause; took != want {
			t.Errorf("12 errors in a row took %v of virtual time, want %v", took, want)
		}
	})
}
