package bubble

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/explore"
)

// childVariable is the environment variable that marks a process as a child of Run.
const childVariable = "LOCKBENCH_EXPLORE_CHILD"

// A runner executes a request.
type runner func(context.Context, explore.Bubble, request, func(explore.Progress)) (explore.Result, error)

// enter makes the process a test, and serves in it. It does not return. grace is the longest time
// in which the child must end after it is told to.
func enter(run runner, grace time.Duration) {
	c := &child{run: run, grace: grace, out: bufio.NewWriter(os.Stdout)}
	// The output of package testing and of the lock must not mix with the answers.
	os.Stdout = os.Stderr
	os.Args = os.Args[:1]
	// A signal to the parent's group arrives here, too; only the parent reacts to it.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP)
	every := func(string, string) (bool, error) { return true, nil }
	testing.Main(every, []testing.InternalTest{{Name: "explore", F: c.serve}}, nil, nil)
}

// A child answers one request.
type child struct {
	run   runner
	grace time.Duration
	steps atomic.Int64

	mu  sync.Mutex
	out *bufio.Writer
}

func (c *child) serve(t *testing.T) {
	in := bufio.NewReader(os.Stdin)
	var r request
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	if err != nil {
		t.Fatalf("the request cannot be read: %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go c.obey(in, stop)
	go c.beat(ctx)
	b := New(t)
	wait := b.Wait
	b.Wait = func() {
		c.steps.Add(1)
		wait()
	}
	result, err := c.run(ctx, b, r, func(p explore.Progress) { c.send(message{Progress: &p}) })
	c.send(message{Answer: answerOf(result, err)})
}

// grace is the longest time in which a child must end after it is told to.
const grace = 3 * time.Second

// obey waits until the parent closes the input, or ends, and then ends the child.
func (c *child) obey(in io.Reader, stop func()) {
	_, _ = io.Copy(io.Discard, in)
	stop()
	time.Sleep(c.grace)
	os.Exit(1)
}

// pulse is the interval at which a child reports.
const pulse = 250 * time.Millisecond

// beat reports the number of steps to the parent. It does not rise in a child that hangs.
func (c *child) beat(ctx context.Context) {
	tick := time.NewTicker(pulse)
	defer tick.Stop()
	for last := int64(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if n := c.steps.Load(); n != last {
			last = n
			c.send(message{Beat: n})
		}
	}
}

// send writes one line. A parent that no longer reads it has also closed the input,
// which ends the child.
func (c *child) send(m message) {
	text, err := json.Marshal(m)
	if err != nil {
		text, _ = json.Marshal(message{Answer: &answer{Error: fmt.Sprintf("the answer cannot be told: %v", err)}})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.out.Write(append(text, '\n'))
	_ = c.out.Flush()
}
