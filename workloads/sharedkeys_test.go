package workloads

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// TestSharedKeys checks that clients of groups with shared keys make the calls of clients without groups, for
// fewer keys than groups and for more.
func TestSharedKeys(t *testing.T) {
	for _, w := range By(Live) {
		for _, keys := range []int{0, 1, 3, 6} {
			t.Run(fmt.Sprint(w.Name, "/", keys), func(t *testing.T) {
				var all [2][]string
				for i, groups := range []int{0, 4} {
					synctest.Test(t, func(t *testing.T) {
						o, err := w.Options(options(func(o *Options) {
							o.Groups, o.SharedKeys, o.Keys, o.Period = groups, groups > 0, keys, 20*time.Millisecond
						}))
						if err != nil {
							t.Fatal(err)
						}
						if o.KeyChoice == Pairs { // the pairs are others, see TestSharedKeysMixPairs
							return
						}
						for id := range o.Clients {
							s := &script{value: 1000}
							c := NewRun(o, nil).Client(id, s, s)
							for range 10 {
								_ = c.Iterate(t.Context(), w)
							}
							all[i] = append(all[i], strings.Join(s.calls, "\n"))
						}
					})
				}
				if diff := cmp.Diff(all[1], all[0]); diff != "" {
					t.Errorf("calls of each client (-shared keys +one group):\n%s", diff)
				}
			})
		}
	}
}

// TestSharedKeysOfPairs checks that the key choice pairs lets clients of two groups meet.
func TestSharedKeysOfPairs(t *testing.T) {
	o := options(func(o *Options) { o.Clients, o.KeyChoice, o.Keys, o.Groups, o.SharedKeys = 8, Pairs, 0, 2, true }).OrDefaults()
	if o.Keys != 4 || !o.contended() {
		t.Errorf("%d keys, contended %v; want 4 keys for 8 clients, contended", o.Keys, o.contended())
	}
	one, other := NewRun(o, nil).Client(0, nil, nil), NewRun(o, nil).Client(1, nil, nil)
	one.choose()
	other.choose()
	if one.choice.Key != other.choice.Key || o.group(0) == o.group(1) {
		t.Errorf("clients of groups %d and %d choose keys %d and %d", o.group(0), o.group(1), one.choice.Key, other.choice.Key)
	}
}

// TestSharedKeysMixPairs checks that each pair of clients has a key, and that each two groups meet on some.
func TestSharedKeysMixPairs(t *testing.T) {
	const groups, clients = 4, 34 // the last turn of the groups is not complete
	o := options(func(o *Options) {
		o.Clients, o.KeyChoice, o.Keys, o.Groups, o.SharedKeys = clients, Pairs, 0, groups, true
	}).OrDefaults()
	of := map[int][]int{} // groups by key
	for id := range clients {
		c := NewRun(o, nil).Client(id, nil, nil)
		c.choose()
		of[c.choice.Key] = append(of[c.choice.Key], o.group(id))
	}
	meet := map[[2]int]bool{}
	for key, two := range of {
		if len(two) != 2 {
			t.Fatalf("key %d has clients of groups %v, want a pair", key, two)
		}
		meet[[2]int{min(two[0], two[1]), max(two[0], two[1])}] = true
	}
	if len(of) != clients/2 || len(meet) != groups*(groups-1)/2 {
		t.Errorf("%d keys, %d pairs of groups meet: %v", len(of), len(meet), meet)
	}
}

// TestSharedKeysAreContended checks that one client for each group meets others if keys are shared, and that stallers
// of all groups have valid options.
func TestSharedKeysAreContended(t *testing.T) {
	for _, stallers := range []int{1, 4, 6, 9} {
		o := options(func(o *Options) {
			o.Clients, o.Keys, o.Groups, o.SharedKeys, o.Stallers = 4, 2, 4, true, stallers
		}).OrDefaults()
		s, _ := o.Stalled()
		if err := errors.Join(s.checkCounts(), s.checkGroups()); err != nil {
			t.Errorf("%d stallers: %v", stallers, err)
		}
		if !o.contended() {
			t.Error("no client meets another one")
		}
		if o.SharedKeys = false; o.contended() {
			t.Error("clients of groups of one meet without shared keys")
		}
	}
}

// TestSharedKeysAreWrittenOnce checks that one share of a run writes the first record of each shared key.
func TestSharedKeysAreWrittenOnce(t *testing.T) {
	for _, keys := range []int{1, 3, 4, 9} {
		o := options(func(o *Options) { o.Keys, o.Groups, o.SharedKeys = keys, 4, true }).OrDefaults()
		var versions []uint64
		for i := range 3 {
			r, s := NewRun(o, nil), &script{}
			r.Share = runinfo.Share{Index: i, Of: 3}
			if err := r.Prepare(t.Context(), s, Must("oversell")); err != nil {
				t.Fatal(err)
			}
			versions = append(versions, s.version...)
		}
		slices.Sort(versions)
		for i, v := range versions {
			if v != uint64(i+1) || len(versions) != keys {
				t.Fatalf("%d keys: records %v are written", keys, versions)
			}
		}
	}
}
