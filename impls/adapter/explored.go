package adapter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/lib/faketime"
	"github.com/lockbench/lockbench/internal/service/relay"
)

// Exploration runs in a bubble of package testing/synctest, and time passes there when every goroutine of
// the bubble waits for another one. An adapter is not in the bubble. While a client waits for its adapter,
// it waits for a goroutine outside, so that no time passes and no step is chosen. The adapter goes on until
// it has answered or has sent a command; then the client forwards the command to the server of the
// exploration, which executes it when it is chosen. The adapter's clock stands at the time of the bubble,
// and library libfaketime sets it before the adapter goes on.

// A definition is the [design.Design.Definition] of an adapter.
type definition struct {
	Command string `json:"command"`
	Hello   Hello  `json:"hello"`
}

// Explorable returns a design of [Design] as one that can be explored. The error says why it cannot.
func Explorable(d design.Design) (design.Design, error) {
	var of definition
	if err := json.Unmarshal([]byte(d.Definition), &of); err != nil {
		return d, fmt.Errorf("design %s is not an adapter: %w", d.Name, err)
	}
	_, err := faketime.Find()
	switch {
	case err != nil:
	case of.Hello.renews():
		err = errors.New("it renews its leases by a timer of its own, which virtual time does not reach")
	case of.Hello.Leaseless:
		err = errors.New("its locks have no lease, and no lock on the server of an exploration")
	default:
		d.LiveOnly = ""
		return d, nil
	}
	return d, fmt.Errorf("adapter %q cannot be explored: %w; hint: lockbench run --adapter", of.Command, err)
}

// Defined returns the design with a definition, for an exploration. Call it outside of the bubble.
func Defined(text string) (design.Design, error) {
	var of definition
	if err := json.Unmarshal([]byte(text), &of); err != nil {
		return design.Design{}, fmt.Errorf("definition of an adapter: %w", err)
	}
	d, err := of.Hello.design(of.Command)
	if err == nil {
		d, err = Explorable(d)
	}
	if err != nil {
		return d, err
	}
	x := &explored{command: of.Command, hello: of.Hello.explored(), outside: newOutside(), bridges: map[onredis.Clients]*bridge{}}
	d.Open = onredis.Open(x.open)
	return d, nil
}

// explored returns the hello without the abilities that an exploration cannot judge: a report of a loss
// may come at any time, and a request is not given up.
func (h Hello) explored() Hello {
	var can []Ability
	for _, a := range h.Can {
		if a != Lost && a != Cancel {
			can = append(can, a)
		}
	}
	h.Can = can
	return h
}

// An outside runs functions outside of the bubble, one at a time. What they make, such as goroutines,
// channels and timers, does not belong to the bubble.
type outside struct {
	mu    sync.Mutex
	calls chan func()
	done  chan struct{}
}

func newOutside() *outside {
	o := &outside{calls: make(chan func()), done: make(chan struct{})}
	go func() { // until the program ends
		for f := range o.calls {
			f()
			o.done <- struct{}{}
		}
	}()
	return o
}

// do runs f.
func (o *outside) do(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls <- f
	<-o.done
}

// An explored is an adapter that is explored.
type explored struct {
	command string
	hello   Hello
	outside *outside
	bridges map[onredis.Clients]*bridge // by process of the exploration
}

// open opens a process. It has the program of the schedule before, if nothing happened to that.
func (x *explored) open(env onredis.Environment) (design.Process, error) {
	b := x.bridges[env.Clients]
	if b == nil {
		b = &bridge{explored: x, number: len(x.bridges)}
		x.bridges[env.Clients] = b
	}
	b.env, b.read = env, 0
	if b.broken() {
		if err := b.Kill(); err != nil {
			return nil, err
		}
	}
	if b.program == nil {
		var err error
		now := b.now()
		x.outside.do(func() { b.program, err = startForeign(x.command, now) })
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// A bridge is a process of an exploration. It connects the program with the server of the exploration.
type bridge struct {
	*explored
	env     onredis.Environment
	program *foreign // nil if it was killed
	links   []*link  // of the program, with a connection to the server
	number  int      // of the process
	read    int      // number of calls of now in this schedule
}

// now returns the next time that the clock of the program shows: that of the bubble and some microseconds
// more, of which it gets a new one each time, and other processes get others. Tokens of version 1 of UUID
// differ by the clock, and library libuuid waits until it goes on.
func (b *bridge) now() time.Time {
	b.read++
	const processes, reads = 8, 50 // less than a millisecond in all, unless a schedule is long
	return b.env.Now().Add(time.Duration(b.number%processes*reads+b.read) * time.Microsecond)
}

// Locker implements [design.Process].
func (b *bridge) Locker(o design.Observer) lockbench.Locker {
	return &locker{process: &process{env: b.env, hello: b.hello}, seen: o, number: 1, bridge: b}
}

// Kill kills the program.
func (b *bridge) Kill() (err error) {
	if b.program == nil {
		return nil
	}
	b.outside.do(func() { err = b.program.kill() })
	for _, l := range b.links {
		_ = l.server.Close() // it may be broken
	}
	b.program, b.links = nil, nil
	return err
}

// Close implements [design.Process]. The program serves the next schedule, unless it ended by itself.
func (b *bridge) Close() error {
	if b.program == nil || b.program.failure == nil {
		return nil
	}
	failure := b.program.failure
	return errors.Join(failure, b.Kill())
}

// broken reports whether a connection of the program was broken. A program learns of that by and by, and
// what it does then depends on the time that it has.
func (b *bridge) broken() bool {
	return slices.ContainsFunc(b.links, func(l *link) bool {
		if l.broken {
			return true
		}
		_ = l.server.SetReadDeadline(time.Now())
		defer func() { _ = l.server.SetReadDeadline(time.Time{}) }()
		_, err := l.server.Read(make([]byte, 1))
		return !errors.Is(err, os.ErrDeadlineExceeded)
	})
}

// call makes a request. It returns when the program has answered or has ended.
func (b *bridge) call(r request) (*grant, error) {
	p := b.program
	if p == nil {
		return nil, fmt.Errorf("%w: the process is dead", lockbench.ErrNoEffect)
	}
	var e event
	now := b.now()
	for b.outside.do(func() { e = p.ask(now, r) }); e.link != nil; {
		reply := b.forward(e)
		now = b.now()
		b.outside.do(func() { e = p.reply(now, e.link, reply) })
	}
	if e.err != nil {
		return nil, e.err
	}
	return result(e.answer)
}

// forward forwards a command to the server of the exploration, and returns the reply. It returns none if
// there is no reply, because the connection is broken, or because the program closed it.
func (b *bridge) forward(e event) []byte {
	l := e.link
	if e.command != nil && l.server == nil {
		to, err := b.env.Redis.Dialer(context.Background(), b.env.Redis.Network, b.env.Redis.Addr)
		if err != nil {
			return nil
		}
		l.server, l.replies = to, relay.NewMessages(to)
		b.links = append(b.links, l)
	}
	l.closed = true
	if l.server == nil {
		return nil
	}
	if e.command != nil {
		if _, err := l.server.Write(e.command); err == nil {
			if reply, err := l.replies.Next(); err == nil {
				l.closed = false
				return reply
			}
		}
		l.broken = true
		return nil
	}
	_ = l.server.Close() // the server may have closed it
	b.links = slices.DeleteFunc(b.links, func(o *link) bool { return o == l })
	return nil
}

// A foreign is a program with its connections. Its methods are called outside of the bubble, if they do not
// say otherwise.
type foreign struct {
	*program
	clock    *os.File // sets its clock
	listener net.Listener
	commands chan event // of all connections
	links    []*link
	answered <-chan answer // of the request under way
	failure  error         // it ended by itself
}

// A link is a connection of a program: a real one, and one to the server of the exploration.
type link struct {
	client  net.Conn
	server  net.Conn // made in the bubble; nil before the first command
	replies *relay.Messages
	closed  bool // by the program, or for it
	broken  bool // at the server
}

// An event is something that a program does: it sends a command by a link, or closes the link if there
// is no command; or, without a link, it answers or it has ended.
type event struct {
	link    *link
	command []byte
	answer  answer
	err     error
}

// startForeign starts a program, and returns when it has said hello.
func startForeign(command string, now time.Time) (_ *foreign, err error) {
	f := &foreign{commands: make(chan event, 1<<10)}
	if f.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = f.listener.Close()
		}
	}()
	library, err := faketime.Find()
	if err != nil {
		return nil, err
	}
	if f.clock, err = os.CreateTemp("", "lockbench-clock-"); err != nil {
		return nil, err
	}
	if err := cmp.Or(os.Remove(f.clock.Name()), f.set(now)); err != nil { // the program has it as an open file
		return nil, err
	}
	cmd := shell(command)
	cmd.ExtraFiles = []*os.File{f.clock}
	const first = 3 // the number of the first of ExtraFiles
	cmd.Env = append(cmd.Env, faketime.Environment(library, fmt.Sprintf("/proc/self/fd/%d", first))...)
	go f.accept()
	f.program, err = startAs(cmd, command, greeting{Hello: Version, Servers: []string{"redis://" + f.listener.Addr().String()}})
	if err != nil {
		return nil, err
	}
	if err := f.await(context.Background()); err != nil {
		return nil, errors.Join(err, f.kill())
	}
	return f, nil
}

// set sets the clock of the program.
func (f *foreign) set(now time.Time) error {
	_, err := f.clock.WriteAt(faketime.Standing(now), 0)
	return err
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

// ask makes a request, and returns what the program does next.
func (f *foreign) ask(now time.Time, r request) event {
	if err := f.set(now); err != nil {
		return event{err: err}
	}
	_, answered, err := f.send(r)
	if err != nil {
		return f.fails(err)
	}
	f.answered = answered
	return f.next()
}

// reply sends the reply to a command, or breaks the link without one, and returns what the program does
// next.
func (f *foreign) reply(now time.Time, l *link, reply []byte) event {
	if err := f.set(now); err != nil {
		return event{err: err}
	}
	if l.closed {
		_ = l.client.Close()
	} else {
		_, _ = l.client.Write(reply) // the program may have closed it
	}
	return f.next()
}

// next waits for the program.
func (f *foreign) next() event {
	late := time.NewTimer(answerTime)
	defer late.Stop()
	for {
		select {
		case e := <-f.commands:
			if !e.link.closed {
				return e
			}
		case a := <-f.answered:
			return event{answer: a}
		case <-f.done:
			return f.fails(f.err())
		case <-late.C:
			return f.fails(fmt.Errorf("adapter %q: %w, %v", f.text, errUnanswered, answerTime))
		}
	}
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
	err := errors.Join(f.program.kill(), f.listener.Close(), f.clock.Close())
	faketime.Clean(f.process.PID())
	return err
}
