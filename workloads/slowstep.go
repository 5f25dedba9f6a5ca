package workloads

// SlowStep is the business step that takes longer than its lease (D1: 5 s of
// work on a lease of 2 s): only a design that renews by itself keeps others out.
func SlowStep() Workload {
	return Workload{
		Name:    "slow-step",
		Summary: "every hold works on past its lease",
		Adjust: func(o Options) Options {
			o.Slow = 1
			return o
		},
		Exercises: LockExercises,
		Step:      holdOnce,
	}
}
