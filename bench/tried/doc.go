// Tried tests locks in real time with locktest, on a private redis-server, and keeps the
// histories: one for each guarantee, in a folder for each lock. Locks are those of
// internal/mutants: broken on purpose, of which only histories are kept that show it, or sound.
//
//	tried DIR LOCK...
package main
