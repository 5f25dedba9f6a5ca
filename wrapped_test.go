package lockbench_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
)

// plain is a lease with no ability.
type plain struct{}

func (plain) Release(context.Context) error { return nil }

// able is a lease with every ability.
type able struct{ plain }

var lost = make(chan struct{})

func (able) Extend(context.Context, time.Duration) error       { return nil }
func (able) TTL(context.Context) (time.Duration, error)        { return time.Second, nil }
func (able) Fence() uint64                                     { return 7 }
func (able) Lost() <-chan struct{}                             { return lost }
func (able) Valid() (from time.Time, granted time.Duration)    { return time.Unix(1, 0), time.Minute }
func (able) ReleaseAfter(context.Context, time.Duration) error { return nil }

// decorated is a decorator that overrides nothing.
type decorated struct{ lockbench.Wrapped }

func decorate(inner lockbench.Lease) *decorated {
	return &decorated{lockbench.Wrapped{Lease: inner}}
}

// answers are what a lease answers when all its abilities are called.
type answers struct {
	Able     int // abilities found
	TTL      time.Duration
	Fence    uint64
	Watches  bool
	From     time.Time
	Granted  time.Duration
	Refusals int // calls answered with an error
}

func ask(l *decorated) answers {
	var a answers
	count[lockbench.Extender](&a, l)
	count[lockbench.TTLer](&a, l)
	count[lockbench.Fencer](&a, l)
	count[lockbench.Watcher](&a, l)
	count[lockbench.Validator](&a, l)
	count[lockbench.DelayedReleaser](&a, l)
	ctx := context.Background()
	left, err := l.TTL(ctx)
	for _, err := range []error{err, l.Extend(ctx, 0), l.ReleaseAfter(ctx, 0)} {
		if err != nil {
			a.Refusals++
		}
	}
	a.TTL, a.Fence, a.Watches = left, l.Fence(), l.Lost() != nil
	a.From, a.Granted = l.Valid()
	return a
}

func count[A any](a *answers, l lockbench.Lease) {
	if _, ok := lockbench.Ability[A](l); ok {
		a.Able++
	}
}

func TestDecoratorsHaveTheAbilitiesWithin(t *testing.T) {
	everything := answers{Able: 6, TTL: time.Second, Fence: 7, Watches: true, From: time.Unix(1, 0), Granted: time.Minute}
	nothing := answers{Refusals: 3}
	for _, tt := range []struct {
		name  string
		lease *decorated
		want  answers
	}{
		{"of an able lease", decorate(able{}), everything},
		{"of a plain lease", decorate(plain{}), nothing},
		{"of a decorated able lease", decorate(decorate(able{})), everything},
		{"of a decorated plain lease", decorate(decorate(plain{})), nothing},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(ask(tt.lease), tt.want); diff != "" {
				t.Errorf("the decorator's answers (-got +want):\n%s", diff)
			}
		})
	}
}
