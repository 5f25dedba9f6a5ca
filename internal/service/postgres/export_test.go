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

// KillPooler kills the pooler of a server.
func (s *Server) KillPooler() error {
	p, err := os.FindProcess(s.pooler.PID())
	if err != nil {
		return err
	}
	return p.Kill()
}

// Hide keeps Debian's programs from being found until show is called.
func Hide() (show func()) {
	pattern, program := debian, debianPooler
	debian, debianPooler = "", ""
	return func() { debian, debianPooler = pattern, program }
}
