// Package explore finds interleavings that break a lock. It runs unmodified lock code in virtual
// time against an embedded server, holds every server command back and decides, step by step, which
// command runs next, whether time passes and which fault occurs. Each schedule is recorded like a
// live run and judged by the same checker; a failing one is shrunk, shown and can be replayed.
//
// [Run] explores a [Config] and returns a [Result]; [Rerun] runs one [Replay]. The way from
// the first to the last, in the order in which to read it:
//
//   - run.go: an explorer has a strategy begin schedule after schedule, each run in a world
//     and judged (judge.go), adds the verdicts up (merge.go) and keeps the first schedule
//     that breaks each cell;
//   - world.go, cast.go, actor.go: a world has the server (package internal/stepserver),
//     processes and clients. It is the root of the bubble: a client, a goroutine that goes
//     through a program of package workloads, moves only until it waits again, and what it
//     waits for is its next step. What it asks of the lock passes tracked.go;
//   - schedule.go: one schedule. At each point the world lists the choices there are
//     (enumerate.go), has the strategy take one, and makes it (faults.go, skew.go);
//   - finish.go: what a schedule leaves is probed by a fresh client, and all goroutines are
//     joined, so that the next schedule begins alone;
//   - shrink.go, counterexample.go, notes.go: a failing schedule is made smaller (package
//     internal/explore/internal/shrink), and written down as rows and as a file (replay.go, parse.go),
//     which rerun.go follows.
//
// Package internal/explore/internal/strategy chooses. What differs only in the order of steps that
// commute is run once: SOUNDNESS.md proves that nothing is lost by that. Package
// internal/explore/internal/render writes commands and replies for people.
package explore
