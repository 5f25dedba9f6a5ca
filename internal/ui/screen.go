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
	// redraw is how often the view asks what there is to be seen.
	redraw = 200 * time.Millisecond
	// framesPerSecond bounds how often the terminal is written to.
	framesPerSecond = 10
	// patience is how long Close waits for a terminal that takes nothing.
	patience = 2 * time.Second
)

// Can reports why there can be no view on a file, nil where there can: it takes a terminal
// that can move its cursor.
func Can(out *os.File) error {
	switch {
	case out == nil || !term.IsTerminal(int(out.Fd())):
		return errors.New("no terminal to draw on")
	case os.Getenv("TERM") == "dumb":
		return errors.New("TERM=dumb: this terminal cannot be drawn on")
	}
	return nil
}

// A Screen is a view that is open. Its methods are safe for concurrent use.
type Screen struct {
	program *tea.Program
	stop    chan struct{} // closed when nothing more is to be shown
	ended   chan struct{} // closed when the terminal is as it was
	done    chan struct{} // closed when, beside that, no goroutine is left
	err     error         // why the view ended by itself, to be read once done is closed
	close   sync.Once
}

// Open draws what session returns, on the terminal out, until Close. Session is called a
// few times a second, by one goroutine. Keys are read from in, where that is a terminal;
// interrupt is called when one of them asks for the end, once at most. The view stays
// until Close all the same.
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

// follow has the view show what there is, as long as it is there.
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

// Close takes the view away and returns when the terminal is as it was before, or after
// two seconds where that takes nothing any more. The error says why the view was not
// there, or not to the end. Closing again does nothing.
func (s *Screen) Close() error {
	s.close.Do(func() { close(s.stop) })
	select {
	case <-s.done:
	case <-time.After(patience):
		return fmt.Errorf("the terminal took nothing for %v", patience)
	}
	if s.err != nil {
		return fmt.Errorf("the live view ended: %w", s.err)
	}
	return nil
}
