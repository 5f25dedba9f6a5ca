package subprocess

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// Sleeps reports whether every thread of the program and of its group waits for something: none runs, or
// would if it had a processor.
func (p *Process) Sleeps() bool {
	group := strconv.Itoa(p.PID())
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range all {
		if _, of := stateOf(file); of != group {
			continue
		}
		threads, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "task/*/stat"))
		for _, thread := range threads {
			if state, _ := stateOf(thread); state != "" && state != "S" {
				return false
			}
		}
	}
	return true
}

// stateOf returns the state of a thread or process and its group; they are empty if it has ended. The name
// of the program comes before them in parentheses, and may contain spaces.
func stateOf(file string) (state, group string) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", ""
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const groupField = 2
	if len(fields) <= groupField {
		return "", ""
	}
	return string(fields[0]), string(fields[groupField])
}
