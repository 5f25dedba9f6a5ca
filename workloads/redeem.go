package workloads

import (
	"context"

	"github.com/lockbench/lockbench"
)

// Redeem is the exchange of points (D0): each user sends two requests at once,
// and both must not pass on the same points. Clients 2k and 2k+1 are the two
// requests of a user.
func Redeem() Workload {
	return Workload{
		Name:    "redeem",
		Summary: "two requests per user at once: read the points and, above the threshold, subtract it",
		Adjust: func(o Options) Options {
			o.KeyChoice = Pairs
			return o
		},
		Exercises: StoreExercises,
		Prepare: func(ctx context.Context, store lockbench.Store, o Options) error {
			return PrepareEach(ctx, store, o.Keys, o.Points)
		},
		Step: redeem,
	}
}

// redeem exchanges points, or lets a user who has too few earn new ones, so that
// a run of any length has points to exchange.
func redeem(ctx context.Context, c *Client) error {
	o := &c.run.Options
	return c.guarded(ctx, func(points int64) (int64, bool) {
		if points > o.Threshold {
			return points - o.Threshold, true
		}
		return points + o.Points, true
	})
}
