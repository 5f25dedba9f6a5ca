package clients

import (
	"math"
	"slices"
)

// Values has one number for each of a few clients: a time in ns, or a count.
type Values []Value

// A Value is the number of one client.
type Value struct {
	Client int32
	N      int64
}

// Get returns what client has, and whether it has anything.
func (all Values) Get(client int32) (int64, bool) {
	for _, c := range all {
		if c.Client == client {
			return c.N, true
		}
	}
	return 0, false
}

// At returns where the number of client is kept, which is n if it had none.
func (all *Values) At(client int32, n int64) *int64 {
	for i := range *all {
		if (*all)[i].Client == client {
			return &(*all)[i].N
		}
	}
	*all = append(*all, Value{Client: client, N: n})
	return &(*all)[len(*all)-1].N
}

// Set has client have n.
func (all *Values) Set(client int32, n int64) { *all.At(client, n) = n }

// Raise keeps the higher of n and what client has.
func (all *Values) Raise(client int32, n int64) {
	kept := all.At(client, n)
	*kept = max(*kept, n)
}

// Lower keeps the lower of n and what client has.
func (all *Values) Lower(client int32, n int64) {
	kept := all.At(client, n)
	*kept = min(*kept, n)
}

// Highest is the highest that any client has, zero when none has any.
func (all Values) Highest() (t int64) {
	for _, c := range all {
		t = max(t, c.N)
	}
	return t
}

// Of is what client has, without bound when it has nothing.
func (all Values) Of(client int32) int64 {
	if t, ok := all.Get(client); ok {
		return t
	}
	return math.MaxInt64
}

// Remove takes the number of client away, and returns it; zero when it had none.
func (all *Values) Remove(client int32) (t int64) {
	i := slices.IndexFunc(*all, func(c Value) bool { return c.Client == client })
	if i < 0 {
		return 0
	}
	t = (*all)[i].N
	*all = slices.Delete(*all, i, i+1)
	return t
}
