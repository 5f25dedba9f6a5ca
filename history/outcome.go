package history

import (
	"errors"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/serverror"
)

// A verdict is what an operation's error says about it.
type verdict struct {
	outcome Outcome
	late    bool
	note    string
}

// judge reads an operation's error as the contract has it: what wraps none of
// the contract's errors leaves the outcome unknown. So does what the server refused to run,
// unless it certainly did nothing: whatever the lock makes of that, it says nothing of other
// owners. The words of errors go to notes, which may be nil.
func judge(err error, notes *notes) verdict {
	switch {
	case err == nil:
		return verdict{outcome: OK}
	case err == lockbench.ErrNotAcquired: // as most are: there is nothing within to look for
		return verdict{outcome: Refused}
	case serverror.RefusalOf(err).Found():
		return unanswered(err, notes)
	case errors.Is(err, lockbench.ErrNotAcquired):
		return verdict{outcome: Refused}
	case errors.Is(err, lockbench.ErrNotHeld):
		return verdict{outcome: LossReported}
	case errors.Is(err, lockbench.ErrLate):
		return verdict{outcome: OK, late: true}
	}
	return unanswered(err, notes)
}

// unanswered is the verdict of an operation that failed, or of which nobody knows.
func unanswered(err error, notes *notes) verdict {
	v := verdict{outcome: Unknown, note: notes.of(err)}
	if errors.Is(err, lockbench.ErrNoEffect) {
		v.outcome = Failed
	}
	return v
}
