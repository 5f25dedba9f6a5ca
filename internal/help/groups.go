package help

// A Group is a heading and the names of its flags, in the order in which they are shown. A
// name that has another meaning in one command is listed as "COMMAND NAME".
type Group struct {
	Title string
	Flags []string
}

// Groups returns the groups of all flags of all commands, in the order in which they are shown.
func Groups() []Group {
	return []Group{
		{"What to run", []string{"run", "design", "workload", "scenario", "server", "guard", "drivers", "replay", "resume", "explain from", "clean idle"}},
		{"Load", []string{"clients", "processes", "threads", "pool", "keys", "key-choice", "ttl", "wait", "hold", "think", "slow", "slow-factor", "stallers"}},
		{"Length", []string{"duration", "warmup", "operations", "rounds", "budget", "schedules"}},
		{"Open loop", []string{"rate", "arrival", "stages"}},
		{"Settings of one workload", []string{"stock", "threshold", "points", "depth", "nested-ttl", "period", "delay"}},
		{"Search", []string{"target", "from", "least", "most", "votes", "risk", "confidence", "precision", "strategy"}},
		{"Faults", []string{"fault", "faults", "kinds", "moves", "skew"}},
		{"Randomness", []string{"seed"}},
		{"Judging", []string{"claims", "fail-if", "fail-if-slower", "fail-if-weaker", "accept", "fail-fast", "abort-on-fail", "expect", "compare force"}},
		{"Conclusion", []string{"explore", "known", "conditions"}},
		{"The case", []string{"if-two-hold", "work", "service", "waiters", "choose conditions"}},
		{"Output", []string{"out", "evidence", "history", "save", "html", "svg", "json", "verbose", "force", "metrics", "ui", "quiet", "no-descriptions"}},
		{"Help", []string{"help"}},
	}
}
