// Package serverwatch watches servers that lockbench did not start, for what befalls them during a run: a restart, a failover,
// lost data, evicted keys, and times without an answer. What it sees becomes events of the history, so that none of it is
// held against a lock, and notes for the report.
package serverwatch
