// Package checker judges a history: which guarantees it shows to be held, which
// broken, and which it never put to the test. It has no clock, no network and no
// opinion on how the history came about.
package checker
