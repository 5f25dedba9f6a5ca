// Package nats is NATS JetStream as a backend: a server of the user's, or a private one, which listens
// on a loopback port, with a folder and a password of its own. It keeps guarded records. A run writes to
// a bucket of its own, which is removed afterwards.
//
// The private server is a child process that runs the same program again (see child.go). So nothing need
// be installed, and the server can be stopped and killed, unlike a server in this process.
package nats
