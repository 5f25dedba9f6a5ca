// Searched judges the saved history of one lock with porcupine, for comparison with
// lockbench check: is there an order of its acquires and releases in which no two owners
// have the lock at one time? It makes such histories cheap to search: refusals, legal at
// any time, are left out; and a lock is freed during its release if the owner was answered,
// and at some time after its lease otherwise. An acquire of unknown outcome may act at any
// later time, or never: its cost is exponential.
//
//	searched [-timeout 60s] FILE
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench/history"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "searched:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, args []string) error {
	flags := flag.NewFlagSet("searched", flag.ContinueOnError)
	timeout := flags.Duration("timeout", time.Minute, "how long to search")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("%d files given; hint: searched FILE", flags.NArg())
	}
	ops, err := read(flags.Arg(0))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, porcupine.CheckOperationsTimeout(model, ops, *timeout))
	return err
}

// An act is the effect of an operation on the lock: it is taken, or given up, under a
// grant.
type act struct {
	hold  int64
	take  bool
	maybe bool // it may also do nothing
}

// model has the current grant as its state, zero for none.
var model = porcupine.Model{
	Init: func() any { return int64(0) },
	Step: func(state, input, _ any) (bool, any) {
		held, does := state.(int64), input.(act)
		fits := held == 0
		if !does.take {
			fits = held == does.hold
		}
		switch {
		case !fits:
			return does.maybe, held
		case does.take:
			return true, does.hold
		}
		return true, int64(0)
	},
}

// read returns the operations on the lock in the history at path.
func read(path string) ([]porcupine.Operation, error) {
	src, err := history.Open(path)
	if err != nil {
		return nil, err
	}
	if c, ok := src.(io.Closer); ok {
		defer c.Close()
	}
	h := holds{ends: map[int64]int{}}
	for ev, err := range src.Events() {
		if err != nil {
			return nil, err
		}
		if ev.Phase == history.Return || ev.Phase == history.Call && ev.Op.Return == history.Never {
			if err := h.add(ev.Op); err != nil {
				return nil, err
			}
		}
	}
	return h.ops, nil
}

// holds gathers the operations, two for each grant.
type holds struct {
	ops  []porcupine.Operation
	ends map[int64]int // index in ops of a hold's end
	key  string
	// nobody numbers the grants that nobody knows of, below zero.
	nobody int64
}

func (h *holds) add(op *history.Op) error {
	if h.key == "" {
		h.key = op.Key
	}
	switch {
	case op.Key != h.key:
		return fmt.Errorf("keys %q and %q; hint: bench/generate -keys 1", h.key, op.Key)
	case op.Outcome == history.Unknown:
		h.unknown(op)
		return nil
	case op.Outcome != history.OK:
		return nil
	}
	end, known := h.ends[op.Hold]
	switch {
	case op.Kind == history.Acquire:
		h.ends[op.Hold] = len(h.ops) + 1
		h.ops = append(h.ops, operation(op, act{op.Hold, true, false}), porcupine.Operation{
			ClientId: int(op.Client), Input: act{op.Hold, false, false}, Call: op.Call + op.Granted, Return: math.MaxInt64,
		})
	case !known: // its acquire has an unknown outcome, and may be over at any time
	case op.Kind == history.Release:
		h.ops[end] = operation(op, act{op.Hold, false, false})
	case op.Kind == history.Extend:
		h.ops[end].Call = op.Call + op.Granted
	}
	return nil
}

// unknown adds an unanswered operation. An extend has no certain effect.
func (h *holds) unknown(op *history.Op) {
	end, known := h.ends[op.Hold]
	switch {
	case op.Kind == history.Acquire:
		h.nobody--
		for _, take := range []bool{true, false} {
			h.ops = append(h.ops, porcupine.Operation{ClientId: int(op.Client), Input: act{h.nobody, take, true}, Call: op.Call, Return: math.MaxInt64})
		}
	case op.Kind == history.Release && known:
		h.ops[end].Call = min(op.Call, h.ops[end].Call)
	}
}

func operation(op *history.Op, does act) porcupine.Operation {
	return porcupine.Operation{ClientId: int(op.Client), Input: does, Call: op.Call, Return: op.Return}
}
