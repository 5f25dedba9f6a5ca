package workloads

// Distributions of the arrivals of an open loop.
const (
	// Poisson: arrivals are independent, as the requests of many users are. Gaps are
	// exponential, so some arrivals come close together and queue. It is the default,
	// because even gaps never let two arrivals meet by chance and flatter a lock.
	Poisson = "poisson"
	// Constant: arrivals are evenly spaced.
	Constant = "constant"
)

// ArrivalModels lists the distributions of arrivals.
func ArrivalModels() []string { return []string{Poisson, Constant} }
