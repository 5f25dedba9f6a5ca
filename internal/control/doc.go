// Package control has what locks are compared with: work that nobody locks for, and work that
// one request does. They are no locks of the catalogue, and claim nothing.
package control
