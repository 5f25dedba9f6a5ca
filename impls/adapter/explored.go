package adapter

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"

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
	case unfakeable.MatchString(of.Hello.Runtime):
		err = fmt.Errorf("its runtime, %s, reads the clock past libfaketime, so that virtual time does not reach it", of.Hello.Runtime)
	case of.Hello.Leaseless:
		err = errors.New("its locks have no lease, and no lock on the server of an exploration")
	default:
		d.LiveOnly = ""
		return d, nil
	}
	return d, fmt.Errorf("adapter %q cannot be explored: %w; hint: lockbench run --adapter", of.Command, err)
}

// unfakeable matches the runtimes that read the clock without the C library, or do not work with a clock that
// stands: those of Go and of Java.
var unfakeable = regexp.MustCompile(`(?i)^go ?[0-9]|\b(golang|jvm|vm|java|openjdk)\b`)

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
	program *foreign // nil if it has ended
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

// End ends the program.
func (b *bridge) End() (err error) {
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
	if b.program == nil {
		return nil
	}
	if failure := b.program.failure; failure != nil {
		return errors.Join(failure, b.End())
	}
	return b.heal()
}

// heal lets the program connect again where its connections are broken, or kills it if it does not. A
// program learns that a connection is broken by and by, and what it does then depends on the time that it
// has.
func (b *bridge) heal() error {
	var broken []*link
	for _, l := range b.links {
		if l.broken || l.server.isBroken() {
			broken = append(broken, l)
			_ = l.server.Close()
		}
	}
	if len(broken) == 0 {
		return nil
	}
	b.links = slices.DeleteFunc(b.links, func(l *link) bool { return slices.Contains(broken, l) })
	// A program that counts the grants of an owner may take those of a dead one for its own.
	if b.hello.has(Reentrant) || !b.practise(broken) {
		return b.End()
	}
	return nil
}

// practise lets the program connect again and then use a lock that nobody else has. It reports whether the
// program could, within a second of virtual time.
func (b *bridge) practise(broken []*link) (well bool) {
	const tries, pause = 50, 20 * time.Millisecond
	p := b.program
	b.outside.do(func() { p.startPractice(broken) })
	defer b.outside.do(p.endPractice)
	for range tries {
		time.Sleep(pause)
		now := b.now()
		var ended bool
		b.outside.do(func() { well, ended = p.practiseLock(now) })
		if well || ended {
			return well
		}
	}
	return false
}

// call makes a request. It returns when the program has answered or has ended.
func (b *bridge) call(r request) (*grant, error) {
	p := b.program
	if p == nil {
		return nil, fmt.Errorf("%w: the process is dead", lockbench.ErrNoEffect)
	}
	var e event
	now := b.now()
	b.outside.do(func() { e = p.ask(now, r) })
	for pause := firstPause; ; {
		switch {
		case e.link != nil:
			reply := b.forward(e)
			now = b.now()
			b.outside.do(func() { e = p.reply(now, e.link, reply) })
		case e.sleeps && pause > longestPause:
			b.outside.do(func() { e = p.next(false, answerTime) })
		case e.sleeps:
			time.Sleep(pause)
			pause *= 2
			now = b.now()
			b.outside.do(func() { e = p.goOn(now) })
		case e.err != nil:
			return nil, e.err
		default:
			return result(e.answer)
		}
	}
}

const (
	// silence is how long a program takes no step until it is looked at: it may sleep.
	silence = 2 * time.Millisecond
	// firstPause is the virtual time that passes before it is looked at again; the next ones are longer, up
	// to longestPause. After that it may be in a system call with a time-out, for which real time counts.
	firstPause, longestPause = 10 * time.Millisecond, 5 * time.Second
)

// forward forwards a command to the server of the exploration, and returns the reply. It returns none if
// there is no reply, because the connection is broken, or because the program closed it.
func (b *bridge) forward(e event) []byte {
	l := e.link
	l.closed = true
	if e.command != nil {
		reply, err := b.execute(e)
		l.closed, l.broken = err != nil, err != nil
		return reply
	}
	if l.server == nil {
		return nil
	}
	_ = l.server.Close() // the server may have closed it
	b.links = slices.DeleteFunc(b.links, func(o *link) bool { return o == l })
	return nil
}

// execute executes a command at the server of the exploration.
func (b *bridge) execute(e event) (reply []byte, err error) {
	l := e.link
	if l.server != nil {
		return l.server.execute(e.command)
	}
	if l.server, err = newEnd(b.env.Redis.Dialer(context.Background(), b.env.Redis.Network, b.env.Redis.Addr)); err != nil {
		return nil, err
	}
	b.links = append(b.links, l)
	return l.server.begin(l.opening, e.command)
}

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

// A link is a connection of a program.
type link struct {
	client   net.Conn
	opening  [][]byte // the commands that opened it
	listens  bool     // it is subscribed to messages, which are lost: it stays at the practice server
	practice *end     // at the practice server; nil if there is none
	server   *end     // at the server of the exploration, made in the bubble; nil before the first command
	closed   bool     // by the program, or for it
	broken   bool     // at the server
}

// note keeps the state of a link that a command changes.
func (l *link) note(command []byte) {
	switch relay.Command(command) {
	case "HELLO", "AUTH", "SELECT", "CLIENT":
		l.opening = append(l.opening, command)
	case "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE":
		l.listens = true
	}
}

// An end is a connection to a server.
type end struct {
	net.Conn
	replies *relay.Messages
}

func newEnd(c net.Conn, err error) (*end, error) {
	if err != nil {
		return nil, err
	}
	return &end{c, relay.NewMessages(c)}, nil
}

// begin executes the commands that open a connection, which may end with the given one, and that one.
func (e *end) begin(opening [][]byte, command []byte) (reply []byte, err error) {
	for _, c := range opening {
		if reply, err = e.execute(c); err != nil {
			return nil, err
		}
	}
	if n := len(opening); n > 0 && bytes.Equal(opening[n-1], command) {
		return reply, nil
	}
	return e.execute(command)
}

// isBroken reports whether the server broke the connection. No command may be under way.
func (e *end) isBroken() bool {
	_ = e.SetReadDeadline(time.Now())
	_, err := e.Read(make([]byte, 1))
	_ = e.SetReadDeadline(time.Time{})
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// execute executes a command.
func (e *end) execute(command []byte) ([]byte, error) {
	if _, err := e.Write(command); err != nil {
		return nil, err
	}
	return e.replies.Next()
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
	return f.next(true, answerTime)
}

// reply sends the reply to a command, or breaks the link without one, and returns what the program does
// next.
func (f *foreign) reply(now time.Time, l *link, reply []byte) event {
	if err := f.set(now); err != nil {
		return event{err: err}
	}
	l.write(reply)
	return f.next(true, answerTime)
}

// write writes a reply to the program, or breaks a link that is closed.
func (l *link) write(reply []byte) {
	if l.closed {
		_ = l.client.Close()
		return
	}
	_, _ = l.client.Write(reply) // the program may have closed it
}

// goOn sets the clock of the program, and returns what it does next.
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
	asleep := false
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
			asleep = false
			quiet.Reset(silence)
		case a := <-f.answered:
			return event{answer: a}
		case <-greeted:
			return event{}
		case <-f.done:
			return f.fails(f.err())
		case <-quiet.C:
			// What it did before it slept may be on its way.
			if asleep && maySleep {
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

// atPractice executes a command at the practice server.
func (l *link) atPractice(server *miniredis.Miniredis, command []byte) (reply []byte, err error) {
	if l.practice == nil {
		if l.practice, err = newEnd(server.Dial()); err != nil {
			return nil, err
		}
		_ = l.practice.SetDeadline(time.Now().Add(answerTime))
		return l.practice.begin(l.opening, command)
	}
	_ = l.practice.SetDeadline(time.Now().Add(answerTime))
	return l.practice.execute(command)
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

// close closes what a program that has ended does not need any more.
func (f *foreign) close() (err error) {
	if f.clock != nil {
		err = f.clock.Close()
	}
	f.practice.Close()
	return errors.Join(err, f.listener.Close())
}
