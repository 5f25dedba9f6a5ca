// Tried tests locks in real time with locktest, on a private redis-server, and keeps the
// histories: one for each guarantee, in a folder for each lock. The locks are those of
// internal/mutants: mutants, for which only histories with a violation are kept, or sound ones.
//
//	tried DIR LOCK...
package main
