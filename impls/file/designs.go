package file

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// Designs returns the family: file/presence, file/excl and file/flock.
func Designs() []design.Design {
	presence := design.Design{
		Name:    "file/presence",
		Summary: "looks whether the lock file is there, then makes it; released by removing it",
		// Two owners that check at one time both make it, and the first release removes the file of both.
		Claims: lockbench.Claims{
			Keeps:    []lockbench.Guarantee{lockbench.Answers, lockbench.NoSpuriousRefusal, lockbench.WakeUp},
			Survives: lockbench.Survivable,
		},
		Open: opener(byPresence),
	}
	excl := design.Design{
		Name:    "file/excl",
		Summary: "makes the lock file in one step (O_EXCL); released by removing it",
		// Not recovery: the file of an owner that died stays.
		Claims: lockbench.Claims{
			Keeps: []lockbench.Guarantee{
				lockbench.Exclusion, lockbench.OwnerRelease, lockbench.LossReported, lockbench.Answers,
				lockbench.NoSpuriousRefusal, lockbench.Effects, lockbench.WakeUp,
			},
			Survives: lockbench.Survivable,
		},
		Open: opener(inOneStep),
	}
	flock := excl
	flock.Name = "file/flock"
	flock.Summary = "the kernel's lock on an open file (flock), which ends with the process"
	flock.Claims = excl.Claims.With(lockbench.Recovery)
	flock.Claims.Except = []lockbench.Exception{{
		Gives: []lockbench.Guarantee{lockbench.Recovery}, Under: lockbench.ThreadDeath,
		Why: "the kernel frees the file of a process that ended, not that of a thread",
	}}
	flock.Open = opener(byKernel)
	all := []design.Design{presence, excl, flock}
	for i := range all {
		d := &all[i]
		d.Source = "Locks on Alawar's sites, the baseline"
		d.Backend, d.Leaseless, d.Reacquire = directories{}, true, design.Refused
		d.LiveOnly = "files and the kernel's locks do not go by virtual time"
	}
	return all
}
