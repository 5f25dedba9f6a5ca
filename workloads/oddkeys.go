package workloads

import "context"

// oddKeys are names that locks get wrong which cut them, or put them together with others: the first begins the second and
// the third, which has every byte.
func oddKeys() []string {
	every := []byte("job")
	for b := range 1 << 8 {
		every = append(every, byte(b))
	}
	return []string{"job", "job-1", string(every)}
}

// takeOddly has each client take two of the three keys, another first in each round, and release now the one first that it took
// first, and now the other.
func takeOddly(ctx context.Context, c *Client, rounds int) {
	for round := range rounds {
		first, _ := c.acquire(ctx, c.ID+round) // what the lock answered is in the record
		if c.run.Renews {
			c.work(ctx, 1)
		}
		second, _ := c.acquire(ctx, c.ID+round+1)
		if round%2 == 1 {
			first, second = second, first
		}
		c.releaseAny(ctx, first)
		c.releaseAny(ctx, second)
	}
}
