// Package load is the live driver: it runs the clients of a workload against one
// design on its services, in real time and at full speed, and records what they
// were told. What the record means is for package checker to say, how fast it was
// for package measure.
//
// How a run ends: no client begins another iteration, work under a lock is cut
// short, and what is held is released. Operations under way are let finish, for
// a cancelled one leaves an unknown outcome and perhaps a lock behind. Acquires
// that wait are cancelled when their own wait should long be over, everything else
// some seconds after that. What still has no answer is recorded as unknown.
package load
