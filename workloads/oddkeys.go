package workloads

import "context"

// oddKeys are names that break locks which truncate or concatenate keys: the first is a prefix of
// the second and of the third, which has every byte.
func oddKeys() []string {
	every := []byte("job")
	for b := range 1 << 8 {
		every = append(every, byte(b))
	}
	return []string{"job", "job-1", string(every)}
}

// takeOddly makes each client take two of the three keys, starting with a different one in each
// round, and release them in alternating order.
func takeOddly(ctx context.Context, c *Client, rounds int) {
	for round := range rounds {
		first, _ := c.acquire(ctx, c.ID+round) // the record has the lock's answer
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
