// Package replylimit ends connections to servers of Redis' protocol with replies that are larger
// than any that lockbench asks for. A client library allocates the size that a reply announces
// before the data is there: a server that announces a billion elements would take all memory of the
// machine. The error of a connection on which the server hung up quotes its last refusal.
package replylimit
