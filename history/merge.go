package history

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// A moment is the call or the return of an operation, while it is being put into order.
type moment struct {
	at    int64
	seq   uint64
	place int64 // of the operation in the file
	op    *Op
	phase Phase
}

// A merger puts the events of operations, which come in any order, into the order of [Source]. It
// keeps the events that an earlier one may still precede.
type merger struct {
	window []moment
	floor  int64 // what came below it was passed on
	places int64
	// owners has, for each client seen that has not died, the stamp at which its record stops, or
	// Never. Later events of the client are left out.
	owners    map[int32]int64
	cuts      bool
	lastOwner int32 // the client of the last look-up

	keys, spareKeys []uint64 // memory of order
	tied            []moment // reused
	seen            int      // what fetch comes to, which nobody wants
}

// add adds one operation.
func (m *merger) add(op *Op) error {
	if op.Call < m.floor {
		return fmt.Errorf("the %s of client %d at %d ns comes too late: everything before %d ns was said to be in", op.Kind, op.Client, op.Call, m.floor)
	}
	m.addOwner(op.Client)
	m.places++
	m.window = append(m.window, moment{op.Call, op.CallSeq, m.places, op, Call})
	if op.Return != Never && !op.event() {
		m.window = append(m.window, moment{op.Return, op.ReturnSeq, m.places, op, Return})
	}
	return nil
}

// addOwner adds a client.
func (m *merger) addOwner(client int32) {
	if client == m.lastOwner && m.owners != nil {
		return
	}
	if m.owners == nil {
		m.owners = map[int32]int64{}
	}
	m.lastOwner = client
	if _, known := m.owners[client]; !known {
		m.owners[client] = Never
	}
}

// cut ends the record of a client.
func (m *merger) cut(client int32, at int64) error {
	if at < m.floor {
		return fmt.Errorf("the cut of client %d at %d ns comes too late: everything before %d ns was said to be in", client, at, m.floor)
	}
	m.addOwner(client)
	m.owners[client] = at
	m.cuts = true
	m.window = append(m.window, moment{at, math.MaxUint64, 0, &Op{Client: client, Call: at, Return: at, Attempt: NoStamp}, Cut})
	return nil
}

// cutAll ends the record of each client without a known end, at the stamp that covered returns.
func (m *merger) cutAll(covered func(client int32) int64) {
	for client, at := range m.owners {
		if at == Never {
			_ = m.cut(client, max(m.floor, covered(client)))
		}
	}
}

// passBelow passes on, in order, the events before the stamp. It returns false if the receiver
// wants no more.
func (m *merger) passBelow(below int64, yield func(Event, error) bool) bool {
	m.floor = max(m.floor, below)
	n := 0
	for i := range m.window {
		if m.window[i].at < below {
			if i > n {
				m.window[n], m.window[i] = m.window[i], m.window[n]
			}
			n++
		}
	}
	more := m.emit(m.window[:n], yield)
	rest := copy(m.window, m.window[n:])
	clear(m.window[rest:])
	m.window = m.window[:rest]
	return more
}

// passAll passes on all remaining events.
func (m *merger) passAll(yield func(Event, error) bool) bool {
	more := m.emit(m.window, yield)
	m.window = nil
	return more
}

// emit sorts moments and passes them on.
func (m *merger) emit(window []moment, yield func(Event, error) bool) bool {
	mask := m.order(window)
	near := 0
	for i := 0; i < len(m.keys); {
		if i >= near {
			near = min(i+fetched, len(m.keys))
			m.fetch(window, m.keys[i:near], mask)
		}
		first := &window[m.keys[i]&mask]
		next := i + 1
		for next < len(m.keys) && window[m.keys[next]&mask].at == first.at {
			next++
		}
		tie := window[m.keys[i]&mask:][:1]
		if next > i+1 {
			tie = m.arranged(window, m.keys[i:next], mask)
		}
		for j := range tie {
			t := &tie[j]
			if !m.after(t) && !yield(Event{t.phase, t.op}, nil) {
				return false
			}
			if t.op.Kind == Death && !m.cuts { // a dead client has no record that could be cut
				delete(m.owners, t.op.Client)
			}
		}
		i = next
	}
	return true
}

// fetched is how many operations fetch loads at a time.
const fetched = 64

// fetch loads the operations that keys refer to into the processor's cache, which they have left
// since they were read. It waits for many loads at once; later code would wait for each. This takes
// a quarter off the time of reading (BenchmarkEvents). An operation spans three or four cache
// lines, and its used fields three of them.
func (m *merger) fetch(window []moment, keys []uint64, mask uint64) {
	seen := 0
	for _, key := range keys {
		op := window[key&mask].op
		seen += int(op.Kind) + int(op.Call) + int(op.Granted)
	}
	m.seen = seen
}

// arranged returns the moments of one stamp in order. keys has the index of each moment in the bits
// of mask.
func (m *merger) arranged(window []moment, keys []uint64, mask uint64) []moment {
	m.tied = m.tied[:0]
	for _, key := range keys {
		m.tied = append(m.tied, window[key&mask])
	}
	arrange(m.tied)
	return m.tied
}

// order puts into m.keys, for each moment, its time and, in the bits of the returned mask, its
// index. Integers with time and index sort several times faster than moments. If both do not fit
// into one, the moments themselves are sorted.
func (m *merger) order(window []moment) (mask uint64) {
	first, last := Never, int64(0)
	for i := range window {
		first, last = min(first, window[i].at), max(last, window[i].at)
	}
	shift := bits.Len(uint(len(window)))
	if shift+bits.Len64(uint64(last-first)) > 64 {
		slices.SortFunc(window, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
		first = Never
	}
	m.keys = m.keys[:0]
	for i := range window {
		key := uint64(i)
		if first != Never {
			key |= uint64(window[i].at-first) << shift
		}
		m.keys = append(m.keys, key)
	}
	if first != Never {
		m.sort(shift, shift+bits.Len64(uint64(last-first)))
	}
	return 1<<shift - 1
}

// sort sorts m.keys by all bits from low on; the bits below are in order already. It is a radix
// sort, which takes a fifth of the time of a comparison sort.
func (m *merger) sort(low, high int) {
	const digit = 11
	if len(m.keys) < 1<<digit {
		slices.Sort(m.keys)
		return
	}
	m.spareKeys = slices.Grow(m.spareKeys[:0], len(m.keys))[:len(m.keys)]
	for ; low < high; low += digit {
		var places [1 << digit]int
		for _, key := range m.keys {
			places[key>>low&(1<<digit-1)]++
		}
		sum := 0
		for i, n := range places {
			places[i], sum = sum, sum+n
		}
		for _, key := range m.keys {
			at := &places[key>>low&(1<<digit-1)]
			m.spareKeys[*at] = key
			*at++
		}
		m.keys, m.spareKeys = m.spareKeys, m.keys
	}
}

// after reports whether the moment is after the end of its client's record.
func (m *merger) after(t *moment) bool {
	if !m.cuts {
		return false
	}
	end, known := m.owners[t.op.Client]
	return known && t.at > end
}

// arrange sorts moments of one stamp by their sequence numbers, and those with equal or no numbers
// as orderTied does.
func arrange(tie []moment) {
	slices.SortFunc(tie, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), byOwner(a, b), cmp.Compare(a.phase, b.phase))
	})
	for len(tie) > 0 {
		n := 1
		for n < len(tie) && tie[n].seq == tie[0].seq {
			n++
		}
		if n > 1 {
			orderTied(tie[:n])
		}
		tie = tie[n:]
	}
}

// byOwner sorts moments by client, and then in the client's own order. Places in the file count
// last, since copying may change them.
func byOwner(a, b moment) int {
	return cmp.Or(
		cmp.Compare(a.op.Client, b.op.Client),
		cmp.Compare(a.op.Call, b.op.Call),
		cmp.Compare(a.op.Return, b.op.Return),
		cmp.Compare(a.op.ReturnSeq, b.op.ReturnSeq),
		cmp.Compare(class(a.op), class(b.op)),
		cmp.Compare(a.place, b.place),
	)
}

// class orders the moments of a client at one instant: operations, then events of the client, then
// events in the background.
func class(op *Op) int {
	switch {
	case op.event():
		return 1
	case op.Kind == Renew:
		return 2
	}
	return 0
}

// orderTied orders moments that tie and come by owner: calls before returns, except that a client's
// call stays behind the client's own returns before it. So each moment of a client gets a rank that
// is never lower than the client's rank before it, even for a call and odd for a return, and all
// moments are sorted by rank. A background renewal has rank 0 at its call and 1 at its return,
// whatever came before.
func orderTied(tie []moment) {
	steps := make([]step, len(tie))
	floor := 0
	for i, t := range tie {
		if i == 0 || t.op.Client != tie[i-1].op.Client {
			floor = 0
		}
		rank := floor
		if t.op.Kind == Renew {
			rank = 0
		}
		switch t.phase {
		case Return:
			rank++
			if t.op.Kind != Renew {
				floor = rank + 1
			}
		case Cut:
			rank = math.MaxInt
		}
		steps[i] = step{rank, t}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.rank, b.rank) })
	for i := range steps {
		tie[i] = steps[i].moment
	}
}

type step struct {
	rank int
	moment
}
