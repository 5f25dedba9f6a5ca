// Package stepserver is an embedded Redis server that executes one command at a time, on
// request. Clients reach it over in-memory connections; their commands wait until a
// scheduler runs them, loses the reply, cuts the connection or lets the client die. The
// package makes no decisions and does not move time.
//
// It is made for one testing/synctest bubble: create the Server inside the bubble and use
// it only there. The goroutine that calls Run executes the command; there is no goroutine
// per connection, per blocking command or per subscription, so the behaviour depends on the
// calls alone and not on the scheduling of goroutines.
//
// The server is miniredis, which executes single commands. Transactions, blocking
// commands, publish and subscribe and scripts are the step server's own: each of them is
// one step, in one order.
package stepserver
