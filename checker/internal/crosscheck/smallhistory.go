package crosscheck

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker/internal/count"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// Only keys with few operations are judged: the time of porcupine's search grows exponentially with
// the number of concurrent operations.
const (
	maxOps  = 24
	maxKeys = 512 / count.Partitions // of each partition: bounds the memory and, with timeout, the time
	timeout = 100 * time.Millisecond
)

// A SmallHistory has the operations on one key in the order of their calls, as long as they are
// few.
type SmallHistory struct {
	ops     []*history.Op
	tooMany bool // there were more operations, and none is kept
}

// Keep keeps op, unless the key has too many operations, or its partition has too many keys with
// operations: keys counts these.
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

// Has reports whether f has an operation of client.
func (f *SmallHistory) Has(client int32) bool {
	return slices.ContainsFunc(f.ops, func(op *history.Op) bool { return op.Client == client })
}

// Sound reports whether no two owners held the key at once, and whether that is known. departed has
// the deaths and cuts of clients.
func (f *SmallHistory) Sound(departed []*history.Op, rules interval.Rules) (sound, known bool) {
	if len(f.ops) < 2 {
		return false, false
	}
	return Linearizable(Segments(f.ops, departed, rules), timeout)
}
