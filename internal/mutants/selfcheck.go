package mutants

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// SelfCheckName is the name, in reports, of the first lock of a self-check.
const SelfCheckName = "self-check/plain-del"

// SelfCheck returns the named mutant in the form for a self-check: it claims nothing, and its
// owners retry so soon that they meet a key that is free by mistake. In plain-del a late release
// frees the key, whichever client holds it. That shows under the conditions of most real
// violations: holders that outlive their leases while others wait.
//
// For the name bare, SelfCheck returns the sound lock on one server, which breaks if the server
// loses a grant.
func SelfCheck(name string) design.Design {
	d := named(name)
	d.Name, d.Claims = "self-check/"+name, lockbench.Claims{}
	return eager(d)
}

// named returns the named mutant, or the sound lock.
func named(name string) design.Design {
	if name == "bare" {
		return Sound()[0]
	}
	all := Mutants()
	i := slices.IndexFunc(all, func(m Mutant) bool { return m.Name == name })
	return all[i].Design()
}

// eagerPause is the pause between two tries of an eager owner. It is far shorter than any lease, so
// that the owner meets a key that is free by mistake.
const eagerPause = 7 * time.Millisecond

// eager returns d with owners that wait by trying every eagerPause.
func eager(d design.Design) design.Design {
	open := d.Open
	d.Open = func(env design.Environment) (design.Process, error) {
		p, err := open(env)
		if err != nil {
			return nil, err
		}
		return eagerProcess{p}, nil
	}
	return d
}

type eagerProcess struct{ design.Process }

func (p eagerProcess) Locker(o design.Observer) lockbench.Locker {
	return eagerOwner{p.Process.Locker(o)}
}

type eagerOwner struct{ lockbench.Locker }

// Acquire implements lockbench.Locker.
func (o eagerOwner) Acquire(ctx context.Context, key string, opt lockbench.Options) (lease lockbench.Lease, err error) {
	wait := opt.Wait
	opt.Wait = 0
	err = design.Poll(ctx, wait, design.Every(eagerPause), func() (bool, error) {
		lease, err = o.Locker.Acquire(ctx, key, opt)
		if errors.Is(err, lockbench.ErrNotAcquired) {
			return false, nil
		}
		return err == nil, err
	})
	return lease, err
}
