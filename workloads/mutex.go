package workloads

import "context"

// Mutex is the bare lock: acquire, hold, release.
func Mutex() Workload {
	return Workload{
		Name:      "mutex",
		Summary:   "acquire, hold, release",
		Exercises: LockExercises,
		Step:      holdOnce,
	}
}

func holdOnce(ctx context.Context, c *Client) error {
	lease, err := c.Acquire(ctx)
	if lease == nil {
		return err
	}
	c.Hold(ctx, lease, c.choice.Hold)
	return c.Release(ctx, lease)
}
