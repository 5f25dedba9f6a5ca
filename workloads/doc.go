// Package workloads is the catalogue of client programs. A program is the work of a lock's
// client, round after round. It is written once and drives the lock through the contract
// alone; it sees neither the recorder, nor the network, nor the clock. Three drivers run
// programs, and [Program.Drivers] lists the ones for each program:
//
//   - live runs (lockbench run): many rounds of many clients on many keys, in real time.
//     [Client.Iterate] draws a choice before each round and pauses after it. Every choice
//     comes from the options' seed: equal options make equal choices, whatever the lock
//     answers;
//   - explorations (lockbench explore): few rounds, [Client.Perform], in virtual time. A scheduler
//     picks the client that goes on at every step;
//   - tests of a lock in Go ([github.com/lockbench/lockbench/locktest]): rounds of a few
//     owners, in real time on the lock's own service.
//
// A program is made of the steps of a [Client]: Acquire, Extend, Release, Read, Write,
// Hold. They take their arguments from the options, count the answers, and go through the
// client's [Driver] if it has one: so time passes, and a scheduler picks its next step.
//
// Many test cases of package locktest are no programs. A program is one client that knows
// nothing of the others: chance or the scheduler decides how they meet. A case has neither
// many rounds nor a scheduler, so it directs several owners from one goroutine: the second
// tries when the lease of the first must be over, and once the second is granted the key,
// the first releases. The owners are clients of this package and make the same steps. The
// cases in which owners meet by taking turns run programs.
package workloads
