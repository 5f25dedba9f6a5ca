package workloads

import "context"

// Mutex is the bare lock: acquire, hold, release.
func Mutex() Workload {
	return Workload{
		Name:      "mutex",
		Summary:   "acquire, hold, release",
		Exercises: exercises,
		Step:      holdOnce,
	}
}

func holdOnce(ctx context.Context, c *Client) error {
	lease, err := c.acquire(ctx)
	if lease == nil {
		return err
	}
	c.hold(ctx, lease, c.choice.Hold)
	return c.release(ctx, lease)
}
