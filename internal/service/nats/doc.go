// Package nats is NATS JetStream as a backend: a server of the user's, or a private one, which listens
// on a loopback port, keeps its files in a folder of its own and has a password of its own. It keeps
// guarded records. All that a run writes is in a bucket of the run, which is removed afterwards.
//
// The private server is a child process that runs this very program again (see child.go). So it needs
// nothing installed, and can be stopped and killed like any server, which one in this process cannot.
package nats
