package adapter

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockbench/lockbench/internal/lib/faketime"
	"github.com/lockbench/lockbench/internal/service/relay"
)

// A foreign is a program with its connections. Its methods are called outside of the bubble.
type foreign struct {
	*program
	clock    *os.File // sets its clock
	listener net.Listener
	commands chan event    // of all connections
	answered <-chan answer // of the request under way
	failure  error         // it ended by itself
	// practice is the server of its commands while it practises: before it says hello, and when it
	// connects again.
	practice  *miniredis.Miniredis
	practises bool
	started   bool // it has said hello
}

// An event is something that a program does: it sends a command by a link, or closes the link if there
// is no command; or, without a link, it answers or it has ended.
type event struct {
	link    *link
	command []byte
	sleeps  bool // nothing happens: it waits for time to pass
	answer  answer
	err     error
}

// startForeign starts a program, and returns when it has said hello.
func startForeign(command string, now time.Time) (_ *foreign, err error) {
	library, err := faketime.Find()
	if err != nil {
		return nil, err
	}
	f := &foreign{commands: make(chan event, 1<<10), practice: miniredis.NewMiniRedis()}
	if f.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	go f.accept()
	if f.clock, err = os.CreateTemp("", "lockbench-clock-"); err != nil {
		return nil, errors.Join(err, f.close())
	}
	if err := cmp.Or(os.Remove(f.clock.Name()), f.set(now)); err != nil { // the program has it as an open file
		return nil, errors.Join(err, f.close())
	}
	cmd := shell(command)
	cmd.ExtraFiles = []*os.File{f.clock}
	const first = 3 // the number of the first of ExtraFiles
	cmd.Env = append(cmd.Env, faketime.Environment(library, fmt.Sprintf("/proc/self/fd/%d", first))...)
	f.program, err = startAs(cmd, command, greeting{Hello: Version, Servers: []string{"redis://" + f.listener.Addr().String()}})
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	f.practises = true
	e := f.next(false, helloTime)
	f.practises, f.started = false, true
	if e.err == nil {
		e.err = f.checkClock(library)
	}
	if e.err != nil {
		return nil, errors.Join(e.err, f.kill())
	}
	return f, nil
}

// set sets the clock of the program.
func (f *foreign) set(now time.Time) error {
	_, err := f.clock.WriteAt(faketime.Standing(now), 0)
	return err
}

// checkClock returns an error if the program did not load the library that sets its clock, as a program
// without the C library does not.
func (f *foreign) checkClock(library string) error {
	mapped, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", f.process.PID()))
	if err == nil && !strings.Contains(string(mapped), library) {
		err = errors.New("it does not load libfaketime, so that virtual time does not reach it; hint: lockbench run --adapter")
	}
	if err != nil {
		return fmt.Errorf("adapter %q cannot be explored: %w", f.text, err)
	}
	return nil
}

// accept accepts the connections of the program.
func (f *foreign) accept() {
	for {
		c, err := f.listener.Accept()
		if err != nil {
			return
		}
		go f.read(&link{client: c})
	}
}

// read reads the commands of a link.
func (f *foreign) read(l *link) {
	defer l.client.Close()
	for from := relay.NewMessages(l.client); ; {
		command, err := from.Next()
		if err != nil {
			f.commands <- event{link: l}
			return
		}
		f.commands <- event{link: l, command: append([]byte(nil), command...)}
	}
}

// ask makes a request, and returns the next event.
func (f *foreign) ask(now time.Time, r request) event {
	if err := f.set(now); err != nil {
		return event{err: err}
	}
	_, answered, err := f.send(r)
	if err != nil {
		return f.fails(err)
	}
	f.answered = answered
	return f.next(true, answerTime)
}

// reply sends the reply to a command, or breaks the link without one, and returns the next event.
func (f *foreign) reply(now time.Time, l *link, reply []byte) event {
	if err := f.set(now); err != nil {
		return event{err: err}
	}
	l.write(reply)
	return f.next(true, answerTime)
}

// goOn sets the clock of the program, and returns the next event.
func (f *foreign) goOn(now time.Time) event {
	if err := f.set(now); err != nil {
		return event{err: err}
	}
	return f.next(true, answerTime)
}

// next waits for the program, for at most limit, or until it sleeps. It returns an empty event when the
// program says hello.
func (f *foreign) next(maySleep bool, limit time.Duration) event {
	late := time.NewTimer(limit)
	defer late.Stop()
	quiet := time.NewTimer(silence)
	defer quiet.Stop()
	asleep, last := false, time.Now()
	greeted := f.greeted
	if f.started {
		greeted = nil
	}
	for {
		select {
		case e := <-f.commands:
			e.link.note(e.command)
			switch {
			case f.practises || e.link.listens:
				f.practise(e)
			case !e.link.closed:
				return e
			}
			asleep, last = false, time.Now()
			quiet.Reset(silence)
		case a := <-f.answered:
			return event{answer: a}
		case <-greeted:
			return event{}
		case <-f.done:
			return f.fails(f.err())
		case <-quiet.C:
			// Bytes that it sent before it slept may be on their way. One that wakes again and again, to read
			// its clock, may never be seen asleep on a busy machine.
			if maySleep && (asleep || time.Since(last) > limit/2) {
				return event{sleeps: true}
			}
			asleep = f.process.Sleeps()
			quiet.Reset(silence)
		case <-late.C:
			return f.fails(fmt.Errorf("adapter %q: %w, %v", f.text, errUnanswered, limit))
		}
	}
}

// practise executes a command at the practice server.
func (f *foreign) practise(e event) {
	l := e.link
	var reply []byte
	err := errors.New("closed by the program")
	if e.command != nil && !l.closed {
		reply, err = l.atPractice(f.practice, e.command)
	}
	if l.closed = err != nil; l.closed && l.practice != nil {
		_ = l.practice.Close() // it may be broken
	}
	l.write(reply)
}

// startPractice breaks links of the program. Until endPractice its commands go to the practice server.
func (f *foreign) startPractice(broken []*link) {
	for _, l := range broken {
		l.closed = true
		l.write(nil)
	}
	f.practises = true
}

func (f *foreign) endPractice() { f.practises = false }

// practiseLock acquires and releases a lock. It reports whether both went well, and whether the program
// has ended.
func (f *foreign) practiseLock(now time.Time) (well, ended bool) {
	const key, lease = "lockbench:practice", int64(time.Second / time.Millisecond)
	e := f.ask(now, request{Op: opAcquire, Owner: 1, Key: key, TTLMS: lease})
	if held := e.answer.OK; held != nil {
		e = f.ask(now, request{Op: opRelease, Owner: 1, Key: key, Hold: held.Hold})
		return e.answer.OK != nil, true
	}
	if e.err == nil && !e.sleeps {
		f.answered = nil
		e = f.next(true, answerTime) // it connects
	}
	return false, e.err != nil
}

// fails returns the event of an end that nobody asked for.
func (f *foreign) fails(err error) event {
	if !f.ending.Load() {
		f.failure = err
	}
	return event{err: err}
}

// kill kills the program, and closes its connections.
func (f *foreign) kill() error {
	err := errors.Join(f.program.kill(), f.close())
	faketime.Clean(f.process.PID())
	return err
}

// close closes the files and connections of a program that has ended.
func (f *foreign) close() (err error) {
	if f.clock != nil {
		err = f.clock.Close()
	}
	f.practice.Close()
	return errors.Join(err, f.listener.Close())
}
