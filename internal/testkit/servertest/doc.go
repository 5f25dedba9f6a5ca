// Package servertest gives tests a Redis of their own: a private server, or one in virtual
// time.
package servertest
