// Package series keeps what happened when, for runs of any length in memory that
// does not grow: time is cut into buckets of one width, and when a run outgrows
// them, neighbours are put together and the width doubles.
package series
