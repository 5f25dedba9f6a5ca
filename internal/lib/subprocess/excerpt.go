package subprocess

import (
	"bytes"
	"sync"
)

// An Excerpt is an io.Writer for the output of a program, of which it keeps the beginning and the end.
// Its zero value is ready, and it is safe for concurrent use.
type Excerpt struct {
	mu        sync.Mutex
	head, end []byte
}

const (
	headLength = 1 << 16
	tailLength = 1 << 12
)

// Write implements io.Writer; it never fails.
func (e *Excerpt) Write(text []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.head = append(e.head, text[:min(len(text), headLength-len(e.head))]...)
	e.end = append(e.end, text[max(0, len(text)-tailLength):]...)
	e.end = e.end[max(0, len(e.end)-tailLength):]
	return len(text), nil
}

// Head returns the first 64 KiB.
func (e *Excerpt) Head() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return string(e.head)
}

// Tail returns the last 4 KiB, without white space around them.
func (e *Excerpt) Tail() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return string(bytes.TrimSpace(e.end))
}
