// Package load is the live driver: it runs the clients of a workload against one
// design on its services, in real time and at full speed, and records the answers.
// Package checker judges the record, package measure computes its speed.
//
// At the end of a run no client begins another iteration, work under a lock is cut
// short, and locks are released. Operations under way may finish, because a
// cancelled one leaves an unknown outcome and perhaps a lock behind. Waiting
// acquires are cancelled when their own wait should long be over, everything else
// some seconds after that. Operations that still have no answer are recorded as
// unknown.
package load
