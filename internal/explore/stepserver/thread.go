package stepserver

import (
	"bytes"
	"runtime"
	"strconv"
)

// threads finds the client that sends a command: by its process if that has one
// client, else by the goroutine that writes.
type threads struct {
	only    map[int]int    // process -> its only client
	several map[uint64]int // goroutine -> client
	shared  map[int]bool   // processes with several clients
	crashed map[[2]int]bool
}

func (t *threads) reset() {
	if t.only == nil {
		*t = threads{only: map[int]int{}, several: map[uint64]int{}, shared: map[int]bool{}, crashed: map[[2]int]bool{}}
	}
	clear(t.only)
	clear(t.several)
	clear(t.shared)
	clear(t.crashed)
}

// Attribute assigns all commands of the process to the client, until Reset.
func (s *Server) Attribute(process, client int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.threads.only[process] = client
}

// AttributeGoroutine assigns the calling goroutine to a client of a process with
// several, until Reset. Commands of other goroutines of the process belong to
// client -1, nobody.
func (s *Server) AttributeGoroutine(process, client int) {
	id := goroutine()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.threads.several[id] = client
	s.threads.shared[process] = true
}

// client finds the client of the calling goroutine.
func (t *threads) client(process int) int {
	if t.shared[process] {
		if client, known := t.several[goroutine()]; known {
			return client
		}
		return -1
	}
	if client, known := t.only[process]; known {
		return client
	}
	return -1
}

// callerCrashed reports whether the calling goroutine is a client that died alone.
func (t *threads) callerCrashed(process int) bool {
	return len(t.crashed) > 0 && t.crashed[[2]int{process, t.client(process)}]
}

// goroutine is the number of the calling goroutine. It costs a microsecond.
func goroutine() uint64 {
	var text [64]byte
	n := runtime.Stack(text[:], false)
	fields := bytes.Fields(text[:n]) // "goroutine 18 [running]: ..."
	id, _ := strconv.ParseUint(string(fields[1]), 10, 64)
	return id
}
