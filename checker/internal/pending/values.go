package pending

import (
	"math"
	"slices"
)

// Values has one number for each of a few clients: a time in ns, or a count. Most keys have none,
// so an empty Values is small: the state of a key should take few cache lines.
type Values struct{ all *[]Value }

// A Value is the number of one client.
type Value struct {
	Client int32
	N      int64
}

// Get returns the number of client, and whether there is one.
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

// At returns a pointer to the number of client, which is n if there was none. It is valid until the
// next At.
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

// Empty returns Values without numbers, which use the memory of v.
func (v Values) Empty() Values {
	if v.all != nil {
		*v.all = (*v.all)[:0]
	}
	return v
}

// Set sets the number of client.
func (v *Values) Set(client int32, n int64) { *v.At(client, n) = n }

// Raise sets the number of client to the higher of n and its number.
func (v *Values) Raise(client int32, n int64) {
	kept := v.At(client, n)
	*kept = max(*kept, n)
}

// Lower sets the number of client to the lower of n and its number.
func (v *Values) Lower(client int32, n int64) {
	kept := v.At(client, n)
	*kept = min(*kept, n)
}

// Highest returns the highest number of any client, at least zero.
func (v Values) Highest() (t int64) {
	for c := range v.Each {
		t = max(t, c.N)
	}
	return t
}

// OfOthers returns the highest number of any other client, the lowest int64 if there is none.
func (v Values) OfOthers(client int32) int64 {
	t := int64(math.MinInt64)
	for c := range v.Each {
		if c.Client != client {
			t = max(t, c.N)
		}
	}
	return t
}

// Of returns the number of client, the highest int64 if there is none.
func (v Values) Of(client int32) int64 {
	if t, ok := v.Get(client); ok {
		return t
	}
	return math.MaxInt64
}

// Remove removes and returns the number of client; zero if there is none.
func (v *Values) Remove(client int32) (t int64) {
	t, ok := v.Get(client)
	if ok {
		*v.all = slices.DeleteFunc(*v.all, func(c Value) bool { return c.Client == client })
	}
	return t
}
