// Package series counts events by time, for runs of any length in bounded
// memory: time is divided into buckets of one width, and when a run outgrows
// them, neighbours are joined and the width doubles.
package series
