package main

import (
	"os"
	"runtime/debug"
)

// How much garbage there may be before it is collected, in percent of what is in use.
const (
	// betweenRuns: a session keeps a few megabytes, so that the collector would run dozens
	// of times a second beside the clients.
	betweenRuns = 400
	// whileJudging: a judgement makes much garbage and keeps little, so that time is worth
	// more than memory.
	whileJudging = 600
)

// collectAt has garbage collected less often. Who sets GOGC has his way.
func collectAt(percent int) (asBefore func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}
