package history

// An Op is one operation of one client, or one event (Call == Return).
//
// Times are in ns on one monotonic clock since the start of the run. Sequence numbers order events
// of equal time, if one process could order them; zero is no number. An operation that never
// returned has Return == Never.
//
// It is one flat struct for all kinds of operation, so that many are allocated at a time, in one
// slice.
type Op struct {
	Kind    Kind
	Outcome Outcome
	// Late: it took effect, but after the lease was over (lockbench.ErrLate).
	Late bool
	// Client is the owner, one Locker; Process is the process of the owner.
	Client, Process int32
	// Stream is the number of the recorder's sequence of operations that contains this one.
	Stream int32
	// Attempts counts the tries inside an acquire.
	Attempts int32
	// Key is the lock's key as the client wrote it, without the run's prefix.
	Key string
	// Hold identifies the grant of this operation: an acquire's own, or the grant under
	// which a nested acquire, extend, release, read or write was called. Zero: none, as for
	// a refused acquire.
	Hold int64

	Call, Return       int64
	CallSeq, ReturnSeq uint64

	// Attempt is the start of the attempt that succeeded, NoStamp if it is not told.
	Attempt int64
	// Intended is the stamp at which an acquire was due by the timetable of its run (open loop), at
	// most Call. Zero: there is no timetable, so that the acquire began when its client was ready.
	Intended int64
	// Asked and Granted are the requested and the granted lease, in ns. Granted is zero on a
	// successful acquire if the lock has no lease. On an acquire without an answer, Granted is the
	// lease that may have been granted, or zero if that is unknown; then Asked counts. NotTold: the
	// record does not have the lease.
	Asked, Granted int64
	// Wait is the longest time, in ns, that an acquire may wait.
	Wait int64
	// Delay is how long, in ns, a release asked to keep other clients out.
	Delay int64

	// Fence is the fencing token of the grant, zero if the design has none.
	Fence uint64
	// Value and Version are the record read or written; Base is the version on which a write
	// was based.
	Value         int64
	Version, Base uint64

	// Of a Probe, Base is what the raw clock of the machine showed before the question for the common
	// clock was sent, Value is the answer, and Delay is how long the answer took, by the raw clock.
	//
	// Of a Clock, Base is a stamp up to which the raw clock was ahead of the stamps by Value at least and
	// by Value+Wait at most, for Delay. All are in ns.

	// Note is the class of the error and, if kept, its text ("noperm: NOPERM this user ..."), see
	// [Op.ErrorClass]. For an event it is the subject.
	Note string
}

// Stamps with a meaning of their own.
const (
	NoStamp int64 = -1        // not known
	Never   int64 = 1<<63 - 1 // did not return
)

// NotTold is the lease of an operation without a recorded lease.
const NotTold int64 = -1

// Kind is the kind of an operation or event.
type Kind uint8

// The kinds. Those from Lost on are events.
const (
	Acquire Kind = iota + 1
	Release
	Extend
	Renew // a renewal in the background, by the design itself
	Read  // of the guarded state
	Write // of the guarded state
	Lost  // the lease's Lost() channel closed
	Death // the client does nothing more
	Pause // the client stands still until Resume
	Resume
	Fault // a fault began or ended; Note names it
	Probe // compares the machine's raw clock with a clock that all machines know; see [Client.Probe]
	Clock // compares the machine's raw clock with the clock of the stamps; see [Client.Clock]
)

// Outcome is the answer that the client got.
type Outcome uint8

// The outcomes. The zero value claims nothing.
const (
	Unknown      Outcome = iota // it may take effect, now or later, or never
	OK                          // done
	Refused                     // another owner held the lock
	LossReported                // the client was told that it had lost the lock
	Failed                      // it certainly did nothing
)
