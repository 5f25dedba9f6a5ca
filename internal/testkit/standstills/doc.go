// Package standstills tests what lockbench says of locks, sound ones and mutants, while it, their
// server or both stand still for 0.3 to 3 s (SIGSTOP), at leases of 50 ms to 2 s.
// docs/design/standstills.md has what a standstill excuses. The same in virtual time is tested with
// generated histories (internal/testkit/synthetic) and with explorations (internal/explore).
//
// The test is a campaign: see package longtest. Its sizes are RUNS, how many runs there are, one in
// three of a mutant; BESIDE, how many at a time; and SEED. It needs redis-server.
//
//	LOCKBENCH_CAMPAIGNS=1 go test ./internal/testkit/standstills -count=1 -v
//	LOCKBENCH_CAMPAIGNS=1 RUNS=750 BESIDE=4 go test ./internal/testkit/standstills -count=1 -v -timeout 2h
//
// The first takes two minutes.
package standstills
