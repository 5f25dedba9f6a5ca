package pending

import (
	"math"
	"slices"
)

// Values has one number for each of a few clients: a time in ns, or a count. Most keys of a history have none of
// them, so empty ones are small: a key that is looked at is to be in few lines of the processor's caches.
type Values struct{ all *[]Value }

// A Value is the number of one client.
type Value struct {
	Client int32
	N      int64
}

// Get returns what client has, and whether it has anything.
func (v Values) Get(client int32) (int64, bool) {
	if v.all == nil {
		return 0, false
	}
	return v.get(client)
}

func (v Values) get(client int32) (int64, bool) {
	for _, c := range *v.all {
		if c.Client == client {
			return c.N, true
		}
	}
	return 0, false
}

// At returns where the number of client is kept, which is n if it had none.
func (v *Values) At(client int32, n int64) *int64 {
	if v.all == nil {
		v.all = new([]Value)
	}
	all := *v.all
	for i := range all {
		if all[i].Client == client {
			return &all[i].N
		}
	}
	*v.all = append(all, Value{Client: client, N: n})
	return &(*v.all)[len(all)].N
}

// Each yields the numbers with their clients.
func (v Values) Each(yield func(Value) bool) {
	if v.all == nil {
		return
	}
	for _, c := range *v.all {
		if !yield(c) {
			return
		}
	}
}

// Empty is no numbers, in the memory of v.
func (v Values) Empty() Values {
	if v.all != nil {
		*v.all = (*v.all)[:0]
	}
	return v
}

// Set has client have n.
func (v *Values) Set(client int32, n int64) { *v.At(client, n) = n }

// Raise keeps the higher of n and what client has.
func (v *Values) Raise(client int32, n int64) {
	kept := v.At(client, n)
	*kept = max(*kept, n)
}

// Lower keeps the lower of n and what client has.
func (v *Values) Lower(client int32, n int64) {
	kept := v.At(client, n)
	*kept = min(*kept, n)
}

// Highest is the highest that any client has, zero when none has any.
func (v Values) Highest() (t int64) {
	for c := range v.Each {
		t = max(t, c.N)
	}
	return t
}

// OfOthers is the highest that any other client has, without bound below when none has any.
func (v Values) OfOthers(client int32) int64 {
	t := int64(math.MinInt64)
	for c := range v.Each {
		if c.Client != client {
			t = max(t, c.N)
		}
	}
	return t
}

// Of returns the number of a client, without bound when it has none.
func (v Values) Of(client int32) int64 {
	if t, ok := v.Get(client); ok {
		return t
	}
	return math.MaxInt64
}

// Remove takes the number of client away, and returns it; zero when it had none.
func (v *Values) Remove(client int32) (t int64) {
	t, ok := v.Get(client)
	if ok {
		*v.all = slices.DeleteFunc(*v.all, func(c Value) bool { return c.Client == client })
	}
	return t
}
