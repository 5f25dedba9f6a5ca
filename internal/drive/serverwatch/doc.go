// Package serverwatch watches servers that lockbench did not start for incidents during a run: a
// restart, a failover, lost data, evicted keys, and times without an answer. It records them as
// events of the history, so that no lock is blamed for them, and as notes for the report.
package serverwatch
