package history

// A hold is one grant that its owner has not released, as far as the owner knows.
type hold struct {
	key   string
	id    int64
	depth int    // number of acquires answered ok and not yet released
	lost  bool   // its owner was told of the loss
	read  uint64 // version last read under it
}

// holds names the grant that each operation of one client belongs to:
//
//   - an acquire gets a new hold (client<<32 | counter), unless the design counts
//     or refreshes a second acquire and a hold of the key is open and not known
//     lost: then it belongs to that one, whatever its outcome turns out to be;
//   - an acquire that was refused or failed belongs to none; an unknown one keeps
//     its name, but opens nothing, since there is no lease to work with;
//   - releases and extends belong to the acquire that made their lease;
//   - reads, writes, renewals and events belong to the hold open on their key;
//   - a hold stays open until as many releases as ok acquires were answered with
//     anything but failed or refused; an unknown release counts, for its owner
//     works on as if it were done;
//   - once any operation, renewal or Lost event reports the loss, no acquire
//     joins the hold any more; reads and writes still name it.
//
// What the hold means is not decided here, but by package checker.
type holds struct {
	client    int32
	reacquire string
	count     int64
	open      []hold
	// assumed is set after an acquire of unknown outcome: nothing says under which hold the owner
	// works on, so its operations count as under that acquire, as if it had been granted.
	assumed bool
}

// begin sets the hold of op at its call.
func (h *holds) begin(op *Op) {
	current := h.of(op.Key)
	switch {
	case op.Kind == Acquire && current != nil && h.joins(current):
		op.Hold = current.id
	case op.Kind == Acquire:
		h.count++
		op.Hold = int64(h.client)<<32 | h.count
	case op.Hold == 0 && current != nil:
		op.Hold = current.id
	}
	if op.Kind == Write && current != nil {
		op.Base = current.read
	}
}

func (h *holds) joins(current *hold) bool {
	return !current.lost && (h.reacquire == "nested" || h.reacquire == "refreshed")
}

// end applies the outcome of op at its return.
func (h *holds) end(op *Op) {
	if op.Kind == Acquire {
		h.acquired(op)
		return
	}
	current := h.of(op.Key)
	if current == nil || current.id != op.Hold {
		return
	}
	if op.Outcome == LossReported || op.Kind == Lost {
		current.lost = true
	}
	switch {
	case op.Kind == Read && op.Outcome == OK:
		current.read = op.Version
	case op.Kind == Release && op.Outcome != Failed && op.Outcome != Refused:
		h.released(current)
	}
}

func (h *holds) acquired(op *Op) {
	switch op.Outcome {
	case Unknown:
		if !h.assumed {
			return
		}
	case Refused, Failed, LossReported:
		op.Hold = 0
		return
	}
	current := h.of(op.Key)
	switch {
	case current == nil:
		h.open = append(h.open, hold{key: op.Key, id: op.Hold, depth: 1})
	case current.id != op.Hold:
		*current = hold{key: op.Key, id: op.Hold, depth: 1}
	case h.reacquire == "nested" && op.Outcome == OK:
		current.depth++
	}
}

func (h *holds) released(current *hold) {
	current.depth--
	if current.depth > 0 {
		return
	}
	last := len(h.open) - 1
	*current = h.open[last]
	h.open[last] = hold{}
	h.open = h.open[:last]
}

// of returns the open hold of key, nil if there is none. A client has few open holds, so a search
// is faster than a map.
func (h *holds) of(key string) *hold {
	for i := range h.open {
		if h.open[i].key == key {
			return &h.open[i]
		}
	}
	return nil
}
