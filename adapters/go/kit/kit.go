// Package kit is the Go side of lockbench's adapter protocol, version 1.
//
// An adapter is a [Lock], given to [Serve], which answers lockbench's requests over standard input and
// output; docs/adapter-protocol.md describes them. A process has as many owners as the hello says, whose
// requests are answered side by side. Prints go to standard error. LOCKBENCH_BREAK=grant, release or
// silent breaks the lock on purpose, for lockbench to catch it.
package kit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// The errors of a lock. Any other leaves the outcome unknown.
var (
	ErrRefused  = errors.New("another owner holds the lock")
	ErrNotHeld  = errors.New("this owner does not hold the lock any more")
	ErrNoEffect = errors.New("the request certainly did nothing")
)

// names are the errors as the protocol has them.
var names = map[error]string{ErrRefused: "refused", ErrNotHeld: "not-held", ErrNoEffect: "no-effect"}

// A Hello describes an adapter. Zero fields are left out.
type Hello struct {
	Name         string   `json:"name"` // best as FAMILY/VARIANT
	Library      string   `json:"library,omitempty"`
	Version      string   `json:"version,omitempty"` // see [Version]
	Service      string   `json:"service,omitempty"`
	Owners       int      `json:"owners,omitempty"`
	Can          []string `json:"can,omitempty"`
	Renews       string   `json:"renews,omitempty"`
	Leaseless    bool     `json:"leaseless,omitempty"`
	ReleaseTells *bool    `json:"release_tells,omitempty"`
	GrainMS      int      `json:"grain_ms,omitempty"`
	Round        string   `json:"round,omitempty"`
	Claims       []string `json:"claims,omitempty"`
}

// Version returns the version of a module that the program is built with.
func Version(module string) string {
	info, _ := debug.ReadBuildInfo() // nil only without modules
	for _, m := range info.Deps {
		if m.Path == module {
			return m.Version
		}
	}
	return ""
}

// A Lock is the lock of all owners of a process. Its methods are called by several goroutines at a time.
// A context ends two seconds after the wait, if any.
type Lock interface {
	// Acquire makes one attempt. The error is [ErrRefused] if another owner has the lock.
	Acquire(ctx context.Context, key string, ttl time.Duration) (Hold, error)
}

// A Waiter is a lock that can wait: ability wait.
type Waiter interface {
	// AcquireWithin acquires as Acquire does, but waits for at most wait.
	AcquireWithin(ctx context.Context, key string, ttl, wait time.Duration) (Hold, error)
}

// A Hold is a grant. It has the further methods of the abilities of its lock.
type Hold interface {
	// Release releases the lock. The error is [ErrNotHeld] if it was lost.
	Release(ctx context.Context) error
}

// The methods of holds for the abilities extend, ttl, fence and lost.
type (
	Extender interface {
		Extend(ctx context.Context, ttl time.Duration) error // from now on; the error is as that of Release
	}
	Timer interface {
		TimeLeft(ctx context.Context) (time.Duration, error)
	}
	Fenced interface {
		Fence() int64
	}
	Watched interface {
		Lost() <-chan struct{} // closed when the lock knows that it is lost, or is released
	}
)

// A Leased is a hold that knows its lease, which may differ from the requested one.
type Leased interface {
	Granted() time.Duration
}

// patience is how long a lock may take, beside its wait.
const patience = 2 * time.Second

type greeting struct {
	Servers []string `json:"servers"`
	Prefix  string   `json:"prefix"`
}

type request struct {
	ID     int64  `json:"id"`
	Op     string `json:"op"`
	Key    string `json:"key"`
	Hold   int64  `json:"hold"`
	TTLMS  int64  `json:"ttl_ms"`
	WaitMS int64  `json:"wait_ms"`
	Times  int    `json:"times"`
	Cancel int64  `json:"cancel"`
	Stop   bool   `json:"stop"`
}

// A result is what succeeded, as the protocol has it.
type result map[string]any

// A held is a hold with its state. The Hold is nil if LOCKBENCH_BREAK granted it.
type held struct {
	Hold
	over atomic.Bool // its release was asked for
}

type server struct {
	lock   Lock // nil without a server
	broken string
	began  int64 // by the clock

	mu      sync.Mutex
	out     *os.File
	last    int64
	fence   int64 // of the last grant
	holds   map[int64]*held
	pending map[int64]context.CancelFunc
}

// Serve says hello and serves a lock until lockbench stops it, or ends the program with a failure. open
// connects to the server at url; every key begins with prefix already.
func Serve(hello Hello, open func(url, prefix string) (Lock, error)) {
	if err := serve(hello, open); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(hello Hello, open func(url, prefix string) (Lock, error)) error {
	s := &server{broken: os.Getenv("LOCKBENCH_BREAK"), out: os.Stdout, holds: map[int64]*held{}, pending: map[int64]context.CancelFunc{}}
	os.Stdout = os.Stderr // what a library prints is no answer
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<10)
	lines.Scan()
	var g greeting
	err := json.Unmarshal(lines.Bytes(), &g)
	if err == nil && len(g.Servers) > 0 {
		s.lock, err = open(g.Servers[0], g.Prefix)
	}
	if err != nil {
		return fmt.Errorf("greeting %q: %w", lines.Text(), err)
	}
	s.greet(hello)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		switch {
		case r.Stop:
			return nil
		case r.Cancel != 0:
			s.cancel(r.Cancel)
		case r.Op != "":
			s.begin(r)
		}
	}
	return lines.Err()
}

func (s *server) say(message any) {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err) // it has values of the kit alone
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.out.Write(append(text, '\n')) // nobody listens any more
}

// A stamped hello says everything.
type stamped struct {
	Protocol int    `json:"hello"`
	Runtime  string `json:"runtime"`
	Hello
	Clock string `json:"clock,omitempty"`
	NowNS int64  `json:"now_ns,omitempty"`
}

func (s *server) greet(hello Hello) {
	all := stamped{Protocol: 1, Runtime: "Go " + runtime.Version()[2:], Hello: hello}
	if s.began = monotonic(); s.began != 0 {
		all.Clock, all.NowNS = "monotonic", s.began%(1<<53)
	}
	s.say(all)
}

func (s *server) cancel(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.pending[id]; cancel != nil {
		cancel()
	}
}

// begin answers a request in the background.
func (s *server) begin(r request) {
	ctx, cancel := context.WithTimeout(context.Background(), millis(r.WaitMS)+patience)
	s.mu.Lock()
	s.pending[r.ID] = cancel
	s.mu.Unlock()
	go func() {
		defer cancel()
		s.answer(ctx, r)
		s.mu.Lock()
		delete(s.pending, r.ID)
		s.mu.Unlock()
	}()
}
