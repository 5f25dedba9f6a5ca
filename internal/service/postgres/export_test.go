package postgres

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// States returns the states of the processes of a private server, as Linux tells them.
func (s *Server) States() (all []string) {
	server := strconv.Itoa(s.own.PID())
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(fields) > 1 && (string(fields[1]) == server || filepath.Base(filepath.Dir(file)) == server) {
			all = append(all, string(fields[0]))
		}
	}
	return all
}

// Hide keeps Debian's programs from being found until show is called.
func Hide() (show func()) {
	pattern := debian
	debian = ""
	return func() { debian = pattern }
}
