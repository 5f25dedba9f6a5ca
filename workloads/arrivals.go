package workloads

// The ways in which an open loop's arrivals follow each other.
const (
	// Poisson: independent of each other, as requests of many users are. Gaps are
	// exponential, so that some come close together and have to queue. It is what is
	// meant unless something else is asked for: even gaps never let two meet by chance,
	// and flatter a lock.
	Poisson = "poisson"
	// Constant: evenly spaced.
	Constant = "constant"
)

// ArrivalModels lists the ways in which arrivals follow each other.
func ArrivalModels() []string { return []string{Poisson, Constant} }
