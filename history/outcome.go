package history

import (
	"errors"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/serverror"
)

// A verdict is the outcome of an operation by its error.
type verdict struct {
	outcome Outcome
	late    bool
	note    string
}

// judge reads an operation's error by the contract: an error that wraps none of the contract's errors
// leaves the outcome unknown. So does a command that the server refused to run, unless it certainly
// did nothing: the refusal says nothing about other owners, however the lock reports it. The text of
// errors goes to notes, which may be nil.
func judge(err error, notes *notes) verdict {
	switch {
	case err == nil:
		return verdict{outcome: OK}
	case err == lockbench.ErrNotAcquired: // as most are: there is nothing within to look for
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

// failureVerdict returns the verdict of an operation that failed, or whose outcome is unknown.
func failureVerdict(err error, notes *notes) verdict {
	v := verdict{outcome: Unknown, note: notes.of(err)}
	if errors.Is(err, lockbench.ErrNoEffect) {
		v.outcome = Failed
	}
	return v
}
