// Package workloads is the catalogue of client programs: what the clients of a lock do,
// round after round. A program is written once and drives the lock through the contract
// alone; it sees neither the recorder, nor the network, nor the clock. Three drivers run
// programs, and [Program.Drivers] says which of them it makes sense for:
//
//   - live runs (lockbench run): many rounds of many clients on many keys, in real time.
//     [Client.Iterate] draws a choice before each round and pauses after it. Every choice
//     comes from the options' seed: equal options make equal choices, whatever the lock
//     answers;
//   - explorations (lockbench explore): few rounds, [Client.Perform], in virtual time. A
//     scheduler picks who goes on at every step;
//   - tests of a lock in Go ([github.com/lockbench/lockbench/locktest]): rounds of a few
//     owners, in real time on the lock's own service.
//
// A program is made of the steps of a [Client]: Acquire, Extend, Release, Read, Write,
// Hold. They ask as the options say, count the answers, and go through the client's
// [Driver] where it has one: that is how time passes and where a scheduler picks it.
//
// What package locktest calls a test case is no program, but for two. A program is one
// client that knows nothing of the others: what happens among them is chance, or the
// scheduler's choice. A case has neither many rounds nor a scheduler, so it directs several
// owners from one goroutine: the second asks when the lease of the first must be over, and
// when it is granted the key, the first releases. Its owners are clients of this package
// and do the same steps.
package workloads
