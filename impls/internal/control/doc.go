// Package control has the controls, the baselines for locks: work without a lock, and work that a
// single request does. Controls are not in the catalogue of locks, and claim nothing.
package control
