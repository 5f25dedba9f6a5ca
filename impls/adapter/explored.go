package adapter

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/lib/faketime"
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

// Defined returns the design with a name and a definition, for an exploration. Call it outside of the
// bubble.
func Defined(name, text string) (design.Design, error) {
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
	d.Name = name // the hello's, or that and the version
	x := &explored{command: of.Command, hello: of.Hello.explored(), outside: newOutside(), bridges: map[onredis.Clients]*bridge{}}
	d.Open = onredis.Open(x.open)
	return d, nil
}

// explored returns the hello without the abilities that an exploration cannot judge: a report of a loss
// may come at any time, and a request is not given up.
func (h Hello) explored() Hello {
	h.Can = slices.DeleteFunc(slices.Clone(h.Can), func(a Ability) bool { return a == Lost || a == Cancel })
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
	go func() {
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

// end ends o. Nothing can be done after it.
func (o *outside) end() { close(o.calls) }

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
