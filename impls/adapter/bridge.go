package adapter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

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
	return &locker{process: &process{env: b.env.Environment, hello: b.hello}, seen: o, ask: b.call}
}

// End ends the process for good, after the last schedule. With the last process the exploration ends.
func (b *bridge) End() error {
	err := b.kill()
	delete(b.bridges, b.env.Clients)
	if len(b.bridges) == 0 {
		b.outside.end()
	}
	return err
}

// kill kills the program. The next schedule starts another one.
func (b *bridge) kill() (err error) {
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
		return errors.Join(failure, b.kill())
	}
	return b.heal()
}

// heal lets the program connect again where its connections are broken, or kills it if it does not. A
// program learns that a connection is broken by and by, and what it does then depends on the time that it
// has.
func (b *bridge) heal() error {
	broken := slices.DeleteFunc(slices.Clone(b.links), func(l *link) bool { return !l.broken && !l.server.isBroken() })
	if len(broken) == 0 {
		return nil
	}
	for _, l := range broken {
		b.leave(l)
	}
	// A program that counts the grants of an owner may take those of a dead one for its own.
	if b.hello.has(Reentrant) || !b.practise(broken) {
		return b.kill()
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

// call makes a request. No context ends it: it returns when the program has answered or has ended.
func (b *bridge) call(_ context.Context, r request) (*grant, error) {
	r.Owner = 1
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
	if e.command == nil {
		l.closed = true
		b.leave(l)
		return nil
	}
	reply, err := b.execute(e)
	if err != nil {
		l.closed, l.broken = true, true
	}
	return reply
}

// leave closes a link at the server.
func (b *bridge) leave(l *link) {
	if l.server != nil {
		_ = l.server.Close() // the server may have closed it
	}
	b.links = slices.DeleteFunc(b.links, func(o *link) bool { return o == l })
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
