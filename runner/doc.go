// Package runner runs lock designs under a workload on real servers, judges the history while it
// grows, and runs a lock that is broken on purpose, to prove that the settings expose violations.
//
// A [Plan] describes the runs. [Run] executes it: it starts or finds the servers, leaves out the
// designs that do not fit them, makes one run per [Subject], ends with the self-check, and tidies
// up. The [Result] has a judgement of each run; [Result.Report] converts it for package reports,
// and [Result.Exit] returns the exit code of the command. [Judge] judges a saved history.
//
// A cell is a guarantee under a set of conditions. A fault exercises a cell if it can bring about
// the conditions. A service is whatever a design locks on, such as a Redis server. The self-check
// is the run of a lock that is broken on purpose; a probe is such a lock for a single condition.
//
// With [Plan.Conclude] the report begins with a word for each design: do not use, do not use without
// a guard, not known, safe only with a guard, safe within its lease.
//
// A [Sink] receives the events, violations and progress of a run meanwhile. Progress, metrics,
// the live view and interval logs of the command are sinks.
//
// The order of the files:
//
//   - plan.go, subject.go: the description of runs, and its checks
//   - runner.go: Run, from top to bottom
//   - services.go, fit.go: the services of the designs, and the designs that do not fit them
//   - record.go: one subject, from its clients to its judgement
//   - judge.go, live.go: a saved history, and one that still grows
//   - join.go: the parts of a run that several machines made
//   - abort.go, selfcheck.go, histories.go: early ends, the broken lock, the files
//   - claims.go, machine.go: changed claims, and changes of this process during a run
//   - conclude.go: the report's conclusions
//   - result.go, sink.go: the results for the caller
package runner
