package history

// An Op is one operation of one client, or one event (Call == Return).
//
// Times are nanoseconds on one monotonic base, the start of the run. Where one
// process can order what shares a stamp, the sequence numbers do; zero means no
// sequence. An operation that never returned has Return == Never.
//
// It is one flat struct that all kinds of operation share, so that operations are
// allocated many at a time, in one slice.
type Op struct {
	Kind    Kind
	Outcome Outcome
	// Late: it took effect, but after the lease was over (lockbench.ErrLate).
	Late bool
	// Client is the owner: one Locker instance. Process is where it lives.
	Client, Process int32
	// Stream is the recorder's sequence of operations this one came in.
	Stream int32
	// Attempts counts the tries inside an acquire.
	Attempts int32
	// Key is the lock's key as the client named it, without the run's prefix.
	Key string
	// Hold identifies the grant this operation belongs to: an acquire's own, or
	// the one that a nested acquire, extend, release, read or write acted under.
	// Zero: none (a refused acquire).
	Hold int64

	Call, Return       int64
	CallSeq, ReturnSeq uint64

	// Attempt is the start of the attempt that succeeded, NoStamp when not told.
	Attempt int64
	// Intended is when an acquire was to begin by the timetable of its run (open
	// loop), never after Call. Zero: there was none, it began when its client was
	// ready.
	Intended int64
	// Asked and Granted are leases in ns: what was asked for, what was given.
	// Granted zero on a successful acquire: the lock has no lease. On one that nobody
	// answered it is what it would have been given, where that is known, and
	// zero otherwise: then Asked counts. NotTold: what it granted, or may have, is not known.
	Asked, Granted int64
	// Wait is how long an acquire was willing to wait, in ns.
	Wait int64
	// Delay is how long a release asked that others be kept out, in ns.
	Delay int64

	// Fence numbers the grant, where the design does; zero is none.
	Fence uint64
	// Value and Version are the record read or written; Base is the version that
	// a write's decision was made on.
	Value         int64
	Version, Base uint64

	// Note is the class of the error and, if kept, its words ("noperm: NOPERM this user ..."),
	// see [Op.ErrorClass]; or what an event is about.
	Note string
}

// Stamps with a meaning of their own.
const (
	NoStamp int64 = -1        // not known
	Never   int64 = 1<<63 - 1 // did not return
)

// NotTold is a lease of which the history does not say how long it is.
const NotTold int64 = -1

// Kind is what an operation or event is.
type Kind uint8

// The kinds. Those from Lost on are events.
const (
	Acquire Kind = iota + 1
	Release
	Extend
	Renew // a renewal in the background, by the design itself
	Read  // of the guarded record
	Write // of the guarded record
	Lost  // the lease's Lost() channel closed
	Death // the client did nothing after this
	Pause // the client stood still until Resume
	Resume
	Fault // a fault began or ended, as Note says
)

// Outcome is what the client was told.
type Outcome uint8

// The outcomes. The zero value claims nothing.
const (
	Unknown      Outcome = iota // it may or may not have happened, now or later
	OK                          // done
	Refused                     // someone else held the lock
	LossReported                // told: you do not hold it any more
	Failed                      // certainly did nothing
)
