// Package history records the operations of a run (by a decorator around a
// Locker), writes them to a file and reads such files. Package checker judges
// them.
package history
