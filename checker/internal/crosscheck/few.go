package crosscheck

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker/internal/count"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// Only keys with few operations are judged: porcupine's search is exponential in what is
// under way at one time.
const (
	fewOps  = 24
	fewKeys = 512 / count.Partitions // of each partition: bounds what is kept for it, and with timeout how long it takes
	timeout = 100 * time.Millisecond
)

// A Few keeps the operations on one key in the order of their calls, as long as they are few.
type Few struct {
	ops  []*history.Op
	many bool // they are not: none is kept
}

// Keep keeps op, unless the key has many operations or many other keys of its partition are
// kept already: keys counts these.
func (f *Few) Keep(op *history.Op, keys *int) {
	switch {
	case f.many || op.Kind == history.Read || op.Kind == history.Write:
	case len(f.ops) == fewOps:
		f.ops, f.many = nil, true
		*keys--
	case len(f.ops) == 0 && *keys == fewKeys:
		f.many = true
	default:
		if len(f.ops) == 0 {
			*keys++
		}
		f.ops = append(f.ops, op)
	}
}

// Has reports whether an operation of client is kept.
func (f *Few) Has(client int32) bool {
	return slices.ContainsFunc(f.ops, func(op *history.Op) bool { return op.Client == client })
}

// Sound reports whether the operations can be put in one order that the specification allows,
// and whether that is known. departed are deaths and cuts of clients.
func (f *Few) Sound(departed []*history.Op, rules interval.Rules) (sound, known bool) {
	if len(f.ops) < 2 {
		return false, false
	}
	return Linearizable(Segments(f.ops, departed, rules), timeout)
}
