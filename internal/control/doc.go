// Package control has controls to compare locks with: work without a lock, and work that one
// request does. They are not in the catalogue of locks, and claim nothing.
package control
