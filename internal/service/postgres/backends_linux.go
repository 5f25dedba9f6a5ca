package postgres

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// signalBackends sends a signal to the child processes of the server, which is stopped. Each backend is
// the first of a group of its own. While the server stands still it neither starts another nor waits
// for one that has ended, so that their numbers stay their own.
func signalBackends(server int, s syscall.Signal) (err error) {
	all, _ := filepath.Glob("/proc/[0-9]*/stat") // only a malformed pattern is an error
	for _, file := range all {
		text, _ := os.ReadFile(file) // it may have ended meanwhile
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		const parent = 1 // after the name of the program, which may contain spaces, and the state
		if len(fields) <= parent || string(fields[parent]) != strconv.Itoa(server) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file))) // the pattern has digits only
		if sent := syscall.Kill(pid, s); !errors.Is(sent, syscall.ESRCH) {
			err = errors.Join(err, sent)
		}
	}
	return err
}

// suspends reports whether the backends of a server can be found.
const suspends = true
