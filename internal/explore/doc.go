// Package explore finds interleavings that break a lock. It runs unmodified lock code in virtual
// time against an embedded server, holds every server command back and decides, step by step, which
// command runs next, whether time passes and which fault occurs. Each schedule is recorded like a
// live run and judged by the same checker; a failing one is shrunk, shown and can be replayed.
//
// [Run] explores a [Config] and returns a [Result]; [Rerun] runs one [Replay]. The way from
// the first to the last, in the order in which to read it:
//
//   - run.go: an explorer lets a strategy begin schedule after schedule, runs each in a world
//     and judges it (judge.go), adds the verdicts up (merge.go) and keeps the first schedule
//     that breaks each cell;
//   - world.go, cast.go, actor.go: a world has the server (package internal/explore/stepserver),
//     processes and clients. It is the root of the bubble: a client, a goroutine that runs
//     a program of package workloads, moves only until it waits again for its next step.
//     Its calls of the lock pass tracked.go;
//   - schedule.go: one schedule. At each point the world lists the choices (enumerate.go),
//     lets the strategy take one, and makes it (faults.go, skew.go);
//   - finish.go: a fresh client probes the locks that a schedule leaves, and all goroutines
//     are joined, so that the next schedule begins alone;
//   - shrink.go, counterexample.go, notes.go: a failing schedule is made smaller (package
//     internal/explore/internal/shrink), and written down as rows and as a file (replay.go, parse.go),
//     which rerun.go follows.
//
// Package internal/explore/internal/strategy chooses. Of schedules that differ only in the order of
// steps that commute it runs one: SOUNDNESS.md proves that nothing is lost by that. Package
// internal/explore/internal/render writes commands and replies for people.
package explore
