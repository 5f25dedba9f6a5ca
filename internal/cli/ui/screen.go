package ui

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"
)

const (
	// redraw is the interval between requests for the state.
	redraw = 200 * time.Millisecond
	// framesPerSecond bounds the writes to the terminal.
	framesPerSecond = 10
	// patience is how long Close waits for a terminal that does not read.
	patience = 2 * time.Second
)

// Can returns the reason why a view on out is impossible, nil if it is possible: it needs
// a terminal that can move its cursor.
func Can(out *os.File) error {
	switch {
	case out == nil || !term.IsTerminal(int(out.Fd())):
		return errors.New("it is not a terminal")
	case os.Getenv("TERM") == "dumb":
		return errors.New("TERM=dumb: the terminal has no cursor movement")
	}
	return nil
}

// A Screen is an open view. Its methods are safe for concurrent use.
type Screen struct {
	program *tea.Program
	stop    chan struct{} // closed when the view must end
	ended   chan struct{} // closed when the terminal is restored
	done    chan struct{} // closed when, in addition, all goroutines have ended
	err     error         // reason why the view ended by itself, valid once done is closed
	close   sync.Once
}

// Open draws the result of session on the terminal out, until Close. It calls session a
// few times a second, from one goroutine. It reads keys from in, if that is a terminal,
// and calls interrupt, at most once, when a key asks for the end. The view stays until
// Close even then.
func Open(out, in *os.File, session func() Session, interrupt func()) *Screen {
	options := []tea.ProgramOption{
		tea.WithOutput(out), tea.WithFPS(framesPerSecond),
		tea.WithoutSignalHandler(), // signals are for the caller of Open
		tea.WithInput(nil),
	}
	if in != nil && term.IsTerminal(int(in.Fd())) {
		options = append(options, tea.WithInput(in))
	}
	s := &Screen{stop: make(chan struct{}), ended: make(chan struct{}), done: make(chan struct{})}
	s.program = tea.NewProgram(newModel(interrupt), options...)
	go func() {
		defer close(s.ended)
		_, s.err = s.program.Run()
	}()
	go func() {
		defer close(s.done)
		s.follow(session)
		<-s.ended
	}()
	return s
}

// follow updates the view until it ends.
func (s *Screen) follow(session func() Session) {
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for {
		s.program.Send(session())
		select {
		case <-s.stop:
			s.program.Quit()
			return
		case <-s.ended:
			return
		case <-tick.C:
		}
	}
}

// Close removes the view and returns when the terminal is restored, or after two seconds
// if the terminal does not read any more. The error says why the view could not be shown,
// or not to the end. Closing again does nothing.
func (s *Screen) Close() error {
	s.close.Do(func() { close(s.stop) })
	select {
	case <-s.done:
	case <-time.After(patience):
		return fmt.Errorf("the terminal accepted no output for %v", patience)
	}
	if s.err != nil {
		return fmt.Errorf("the live view ended: %w", s.err)
	}
	return nil
}
