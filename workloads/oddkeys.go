package workloads

import (
	"context"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
)

// oddSet is the number of keys that a client takes at once in odd-keys.
const oddSet = 4

// longName is the length after which two long names differ.
const longName = 256

// OddKeys returns the names of the keys of odd-keys: two sets of names that break locks which cut,
// trim, fold, hash or concatenate keys. In the first, each begins with base; one ends with a space,
// one has every byte. In the second, two names begin with tagged, which ends with a hash tag of Redis
// Cluster, and have the same letters but for their case and order, and the same CRC16; two differ in
// byte 257 alone.
func OddKeys(base, tagged string) []string {
	every := []byte(base)
	for b := range 1 << 8 {
		every = append(every, byte(b))
	}
	long := strings.Repeat(base+"/", longName)[:longName]
	return []string{
		base, base + "-1", base + " ", string(every),
		tagged + "AAaaaaaaaaaaaaaaaA", tagged + "AaaaaAaaaaaaAaaaaa", long + "1", long + "2",
	}
}

// takeOddly takes all keys of one set at once, and all keys of the other set in the next round.
// Each client starts with a different key. Clients release in the order of their acquires, or
// backwards, in turns.
func takeOddly(ctx context.Context, c *Client, rounds int) {
	for round := range rounds {
		var held [oddSet]lockbench.Lease
		for n := range held {
			if n > 0 && c.run.Renews {
				c.work(ctx, 1)
			}
			held[n], _ = c.acquire(ctx, round%2*oddSet+(c.ID+n)%oddSet) // the record has the lock's answer
		}
		if (c.ID+round)%2 == 1 {
			slices.Reverse(held[:])
		}
		for _, lease := range held {
			c.releaseAny(ctx, lease)
		}
	}
}
