package history

import (
	"errors"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/lib/serverror"
)

// A verdict is the outcome of an operation according to its error.
type verdict struct {
	outcome Outcome
	late    bool
	note    string
}

// judge returns the outcome by the contract of a Locker. An error that wraps none of the contract's
// errors leaves the outcome unknown, and so does a command that the server refused to run, unless
// it certainly did nothing: whatever error the lock makes of it, it says nothing about other
// owners. Error texts go to notes, which may be nil.
func judge(err error, notes *notes) verdict {
	switch {
	case err == nil:
		return verdict{outcome: OK}
	case err == lockbench.ErrNotAcquired: // the usual case, without the search in wrapped errors
		return verdict{outcome: Refused}
	case serverror.RefusalOf(err).Found():
		return failureVerdict(err, notes)
	case errors.Is(err, lockbench.ErrNotAcquired):
		return verdict{outcome: Refused}
	case errors.Is(err, lockbench.ErrNotHeld):
		return verdict{outcome: LossReported}
	case errors.Is(err, lockbench.ErrLate):
		return verdict{outcome: OK, late: true}
	}
	return failureVerdict(err, notes)
}

// failureVerdict returns the outcome for an error that says nothing about the lock: failed or
// unknown.
func failureVerdict(err error, notes *notes) verdict {
	v := verdict{outcome: Unknown, note: notes.of(err)}
	if errors.Is(err, lockbench.ErrNoEffect) {
		v.outcome = Failed
	}
	return v
}
