// Package daemon runs the programs of private servers: each is a child process with a temporary folder
// of its own, which can be suspended, killed and started again.
package daemon
