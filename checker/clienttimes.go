package checker

import (
	"math"
	"slices"
)

// clientTimes has one time in ns for each of a few clients.
type clientTimes []clientTime

type clientTime struct {
	client int32
	t      int64
}

func (all clientTimes) get(client int32) (int64, bool) {
	for _, c := range all {
		if c.client == client {
			return c.t, true
		}
	}
	return 0, false
}

// at returns where the time of client is kept, which is t if it had none.
func (all *clientTimes) at(client int32, t int64) *int64 {
	for i := range *all {
		if (*all)[i].client == client {
			return &(*all)[i].t
		}
	}
	*all = append(*all, clientTime{client, t})
	return &(*all)[len(*all)-1].t
}

func (all *clientTimes) set(client int32, t int64) { *all.at(client, t) = t }

// raise keeps the higher of t and what client has.
func (all *clientTimes) raise(client int32, t int64) {
	kept := all.at(client, t)
	*kept = max(*kept, t)
}

// lower keeps the lower of t and what client has.
func (all *clientTimes) lower(client int32, t int64) {
	kept := all.at(client, t)
	*kept = min(*kept, t)
}

// highest is the highest that any client has, zero when none has any.
func (all clientTimes) highest() (t int64) {
	for _, c := range all {
		t = max(t, c.t)
	}
	return t
}

// of is what client has, without bound when it has nothing.
func (all clientTimes) of(client int32) int64 {
	if t, ok := all.get(client); ok {
		return t
	}
	return math.MaxInt64
}

// remove takes the time of client away, and returns it; zero when it had none.
func (all *clientTimes) remove(client int32) (t int64) {
	i := slices.IndexFunc(*all, func(c clientTime) bool { return c.client == client })
	if i < 0 {
		return 0
	}
	t = (*all)[i].t
	*all = slices.Delete(*all, i, i+1)
	return t
}
