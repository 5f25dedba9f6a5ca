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
	maxOps  = 24
	maxKeys = 512 / count.Partitions // of each partition: bounds what is kept for it, and with timeout how long it takes
	timeout = 100 * time.Millisecond
)

// A SmallHistory keeps the operations on one key in the order of their calls, as long as they are few.
type SmallHistory struct {
	ops     []*history.Op
	tooMany bool // they are not: none is kept
}

// Keep keeps op, unless the key has many operations or many other keys of its partition are
// kept already: keys counts these.
func (f *SmallHistory) Keep(op *history.Op, keys *int) {
	switch {
	case f.tooMany || op.Kind == history.Read || op.Kind == history.Write:
	case len(f.ops) == maxOps:
		f.ops, f.tooMany = nil, true
		*keys--
	case len(f.ops) == 0 && *keys == maxKeys:
		f.tooMany = true
	default:
		if len(f.ops) == 0 {
			*keys++
		}
		f.ops = append(f.ops, op)
	}
}

// Has reports whether an operation of client is kept.
func (f *SmallHistory) Has(client int32) bool {
	return slices.ContainsFunc(f.ops, func(op *history.Op) bool { return op.Client == client })
}

// Sound reports whether the operations can be put in one order that the specification allows,
// and whether that is known. departed are deaths and cuts of clients.
func (f *SmallHistory) Sound(departed []*history.Op, rules interval.Rules) (sound, known bool) {
	if len(f.ops) < 2 {
		return false, false
	}
	return Linearizable(Segments(f.ops, departed, rules), timeout)
}
