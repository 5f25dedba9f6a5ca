package workloads

import (
	"fmt"
	"math/rand/v2"
)

// Distributions of the keys that a client chooses.
const (
	Uniform = "uniform" // every key as likely
	Zipf    = "zipf"    // the first keys far more often, as with words or bestsellers
	Hot     = "hot"     // nine times in ten the first key, else any other
	Own     = "own"     // one key per client: no contention
	Pairs   = "pairs"   // two clients per key, always the same two
)

// KeyChoices lists the ways of choosing a key.
func KeyChoices() []string { return []string{Uniform, Zipf, Hot, Own, Pairs} }

const (
	// zipfExponent is the field's usual skew, slightly above 1, at which the
	// first of 1,000 keys gets about a sixth of all choices.
	zipfExponent = 1.1
	hotShare     = 0.9
)

// keyChooser returns the function that draws the next key of a client, as an index below o.Keys.
func keyChooser(o *Options, client int, r *rand.Rand) func() int {
	groups := o.keyGroups()
	if groups == 1 {
		return chooser(o.KeyChoice, o.Keys, o.mixed(client), r)
	}
	group := o.group(client)
	choose := chooser(o.KeyChoice, o.keysOf(group), client/groups, r)
	return func() int { return group + groups*choose() }
}

// mixed returns the number by which a client chooses its key. With shared keys and an even number of groups, pairs of
// clients are of other groups in each turn of the groups, as in a tournament: by the clients' own numbers, the first two
// groups would never meet the next two.
func (o *Options) mixed(client int) int {
	groups := o.groups()
	turn, group := client/groups, o.group(client)
	if o.KeyChoice != Pairs || groups%2 == 1 || (turn+1)*groups > o.Clients { // the last turn may be incomplete
		return client
	}
	seats := groups - 1 // the last group keeps its seat, the others move on by one each turn
	place := 0
	if group < seats {
		switch ahead := ((group-turn)%seats + seats) % seats; {
		case ahead == 0:
			place = 1
		case ahead <= seats/2:
			place = 2 * ahead
		default:
			place = 2*(seats-ahead) + 1
		}
	}
	return turn*groups + place
}

// keysOf returns the number of keys of a group of keys.
func (o *Options) keysOf(group int) int { return (o.Keys - group + o.keyGroups() - 1) / o.keyGroups() }

// chooser returns the function that draws the next of so many keys.
func chooser(choice string, keys, client int, r *rand.Rand) func() int {
	switch choice {
	case Own:
		return func() int { return client % keys }
	case Pairs:
		return func() int { return client / 2 % keys }
	case Zipf:
		zipf := rand.NewZipf(r, zipfExponent, 1, uint64(keys-1))
		return func() int { return int(zipf.Uint64()) }
	case Hot:
		return func() int { return hotKey(keys, r) }
	}
	return func() int { return r.IntN(keys) }
}

func hotKey(keys int, r *rand.Rand) int {
	// Both numbers are always drawn, so that the draws after them do not depend
	// on the result.
	hot, other := r.Float64() < hotShare, r.IntN(max(1, keys-1))
	if hot || keys == 1 {
		return 0
	}
	return 1 + other
}

// keyNames returns the names of n keys, in the order of their index.
func keyNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("key-%04d", i)
	}
	return names
}
