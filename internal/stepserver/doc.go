// Package stepserver is an embedded Redis server that executes one command when told
// to. Clients reach it over in-memory connections; what they send waits
// until a scheduler runs it, loses its reply, cuts its connection or lets the
// client die. Nothing in here decides anything, and nothing moves time.
//
// It is made for one testing/synctest bubble: create the Server inside the bubble
// and use it from there only. Commands are executed by the goroutine that calls
// Run; there is no goroutine per connection, per blocking command or per
// subscription, so that what happens depends on the calls alone and not on how
// goroutines are scheduled.
//
// The server is miniredis, which executes single commands. Transactions, blocking
// commands, publish and subscribe and scripts are the step server's own: here each of them
// is one step, in one order.
package stepserver
