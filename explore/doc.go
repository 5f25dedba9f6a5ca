// Package explore finds the interleaving that breaks a lock. It runs unmodified
// lock code in virtual time against an embedded server, holds every server command
// back and decides, step by step, whose command runs next, whether time
// passes and what goes wrong. Each schedule is recorded like a live run and judged
// by the same checker; a failing one is shrunk, shown and can be replayed.
//
// [Run] explores a [Config], [Rerun] runs one [Replay]. Within:
//
//   - a strategy (exhaustive.go, random.go, follow.go) is given the choices there are
//     and returns one. It knows no clock, no server and no lock;
//   - a world (world.go, schedule.go) has the server, the processes and the clients,
//     runs schedules one after the other, lists the choices (enumerate.go) and makes
//     them (faults.go). It is the root of the bubble: its clients move only until
//     they wait again;
//   - a client (actor.go, tracked.go) is a goroutine that goes through a program of
//     package workloads; what a schedule leaves is probed by another (finish.go);
//   - an explorer (run.go) has schedules judged (judge.go), adds the verdicts up
//     (merge.go), and shrinks (shrink.go) and writes down (notes.go, text.go,
//     replay.go) the first that breaks each cell;
//   - what differs only in the order of steps that commute (effect.go) is run once:
//     SOUNDNESS.md proves that nothing is lost by that.
package explore
