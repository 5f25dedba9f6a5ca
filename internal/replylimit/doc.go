// Package replylimit ends connections to servers of Redis' protocol whose replies are larger than any that lockbench asks
// for. A client library allocates what a reply says that it will hold before it is there: a server that says so of a billion
// elements would take all memory of the machine.
package replylimit
