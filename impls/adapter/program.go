package adapter

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/lib/legible"
	"github.com/lockbench/lockbench/internal/lib/subprocess"
)

const (
	// helloTime, answerTime and stopTime are how long the adapter may take to say hello, to answer, and
	// to end. Many processes may start at once, on few processors.
	helloTime  = 30 * time.Second
	answerTime = 5 * time.Second
	stopTime   = 2 * time.Second
)

// addressesVariable has the addresses of the user's servers, with their passwords. A program gets those
// that it is to use by its greeting.
const addressesVariable = "LOCKBENCH_SERVER"

// A program is a running adapter. Its methods are safe for concurrent use.
type program struct {
	hello Hello // set before greeted is closed
	text  string
	// began is when it was greeted, arrived when its hello was read; set before greeted is closed.
	began, arrived time.Time

	process *subprocess.Process
	in      *os.File
	words   subprocess.Excerpt
	greeted chan struct{} // closed after hello, or the end
	done    chan struct{} // closed when the program has ended, or is of no use
	exited  chan struct{} // closed when it has ended and its output is read
	ending  atomic.Bool   // lockbench ends it

	writing sync.Mutex // held while a line is written

	mu      sync.Mutex
	last    int64                   // number of the last request
	waiting map[int64]waiter        // by number of the request
	lost    map[int64]chan struct{} // by hold
	renewed map[int64]*renewals     // by hold
	failure error                   // why done is closed
}

// A waiter waits for the answer to a request.
type waiter struct {
	to       chan<- answer
	renewals *renewals // of the hold that is granted; nil if they are not recorded
}

// start starts the command of a user, by a shell, and greets it. The caller ends it by end.
func start(command string, g greeting) (*program, error) { return startAs(shell(command), command, g) }

// startAs starts a command that has this text.
func startAs(cmd *exec.Cmd, command string, g greeting) (*program, error) {
	p := &program{
		text: command, began: time.Now(), greeted: make(chan struct{}), done: make(chan struct{}), exited: make(chan struct{}),
		waiting: map[int64]waiter{}, lost: map[int64]chan struct{}{}, renewed: map[int64]*renewals{},
	}
	if err := p.launch(cmd); err != nil {
		return nil, fmt.Errorf("start adapter %q: %w", command, err)
	}
	if err := p.write(g); err != nil {
		p.unwritable(err)
	}
	return p, nil
}

// shell returns the command of a user as a program.
func shell(command string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", command)
	if runtime.GOOS == "windows" {
		cmd = exec.Command("cmd", "/c", command)
	}
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, addressesVariable+"=") })
	return cmd
}

// launch starts the program with pipes for its input and output. They are pipes of the system, which
// have deadlines.
func (p *program) launch(cmd *exec.Cmd) error {
	in, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	from, out, err := os.Pipe()
	if err != nil {
		return errors.Join(err, in.Close(), ours.Close())
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &p.words
	cmd.WaitDelay = stopTime // for programs that it leaves behind with its standard error
	ended := make(chan error, 1)
	p.process, err = subprocess.Start(cmd, func(err error) { ended <- err })
	_, _ = in.Close(), out.Close() // they are the program's
	if err != nil {
		return errors.Join(err, from.Close(), ours.Close())
	}
	p.in = ours
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.read(from)
	}()
	go func() {
		err := <-ended
		// Its last lines count; programs that it left behind may write no more.
		_ = from.SetReadDeadline(time.Now().Add(stopTime))
		<-read
		_, _ = from.Close(), ours.Close()
		p.fail(exitError(err))
		close(p.exited)
	}()
	return nil
}

// unwritable makes the program of no use because a line could not be written. If the program has closed
// its input it is about to end, and its end says more.
func (p *program) unwritable(err error) {
	if errors.Is(err, os.ErrClosed) || errors.Is(err, syscall.EPIPE) {
		late := time.NewTimer(stopTime)
		defer late.Stop()
		select {
		case <-p.done:
		case <-late.C:
		}
	}
	p.fail(fmt.Errorf("a line could not be written to it: %w", err))
}

// exitError describes the end of a program that nobody asked to end.
func exitError(err error) error {
	if err == nil {
		return errors.New("it exited (status 0)")
	}
	return fmt.Errorf("it exited (%w)", err)
}

// fail makes the program of no use. Only the first reason counts. A program that lockbench ends does
// not fail.
func (p *program) fail(reason error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		return
	default:
	}
	said := ""
	if text := p.words.Tail(); text != "" {
		const enough = 400
		said = "; it said: " + strings.ReplaceAll(legible.Text(text[max(0, len(text)-enough):]), "\n", " | ")
	}
	p.failure = fmt.Errorf("adapter %q: %w%s", p.text, reason, said)
	close(p.done)
	_ = p.process.Kill() // it may have ended
}

// err returns why the program is of no use, once done is closed.
func (p *program) err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure
}

// write writes a line.
func (p *program) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(line) >= longestLine {
		return fmt.Errorf("a request of %d bytes is longer than a line of the protocol, %d", len(line), longestLine)
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	_ = p.in.SetWriteDeadline(time.Now().Add(answerTime)) // not every system can; the end of the program ends the write, too
	_, err = p.in.Write(append(line, '\n'))
	return err
}

// read reads the output of the program to its end.
func (p *program) read(out io.Reader) {
	lines := bufio.NewReaderSize(out, longestLine)
	line, err := lines.ReadSlice('\n')
	if err == nil {
		p.arrived = time.Now()
		p.hello, err = parseHello(line)
		if err != nil {
			err = fmt.Errorf("its first line, %s: %w", quoted(line), err)
		}
	}
	if err != nil {
		p.unreadable(err)
		return
	}
	close(p.greeted)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			p.unreadable(err)
			return
		}
		a, err := parse(line)
		if err == nil {
			err = p.take(a)
		}
		if err != nil {
			p.unreadable(fmt.Errorf("a line of its output, %s: %w", quoted(line), err))
			return
		}
	}
}

// unreadable ends the reading of the output: at its end, whose reason is that of the program's, or at
// a line that is not of the protocol.
func (p *program) unreadable(err error) {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, os.ErrClosed):
	case errors.Is(err, bufio.ErrBufferFull):
		p.fail(fmt.Errorf("a line of its output is longer than %d bytes", longestLine))
	default:
		p.fail(err)
	}
}

// quoted returns the beginning of a line for a message.
func quoted(line []byte) string {
	const enough = 80
	text := legible.Text(string(line))
	if len(text) > enough {
		text = text[:enough] + "..."
	}
	return fmt.Sprintf("%q", text)
}

// take passes on a line of the program.
func (p *program) take(a answer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case a.Lost != 0:
		if told := p.lost[a.Lost]; told != nil {
			select {
			case <-told: // it was told before
			default:
				close(told)
			}
		}
	case a.Renewed != 0:
		if r := p.renewed[a.Renewed]; r != nil {
			return r.told(a, time.Now())
		}
	case a.ID != 0:
		w, known := p.waiting[a.ID]
		if !known {
			return fmt.Errorf("nobody waits for the answer to request %d; hint: each is answered once", a.ID)
		}
		delete(p.waiting, a.ID)
		if a.OK != nil && a.OK.Hold != 0 && p.hello.has(Lost) && p.lost[a.OK.Hold] == nil {
			p.lost[a.OK.Hold] = make(chan struct{}) // now, since the next line may report its loss
		}
		if w.renewals != nil && a.OK != nil {
			p.renewed[a.OK.Hold] = w.renewals
			w.renewals.begin(a.OK)
		}
		w.to <- a
	}
	return nil
}

// watch returns a channel that is closed when the adapter reports the loss of a hold that it granted.
func (p *program) watch(hold int64) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost[hold]
}

// unwatch ends the watch of a hold that is released.
func (p *program) unwatch(hold int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.lost, hold)
}

// endRenewals ends the record of the renewals of a hold.
func (p *program) endRenewals(hold int64, none bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.renewed[hold]; r != nil {
		delete(p.renewed, hold)
		r.end(none)
	}
}

// errUnanswered is the error of a request without an answer: its outcome is unknown.
var errUnanswered = errors.New("the adapter did not answer in time")

// send sends a request, and returns the channel of its answer. An error means that the request was
// not sent.
func (p *program) send(r request) (int64, <-chan answer, error) {
	to := make(chan answer, 1)
	p.mu.Lock()
	if p.failure != nil {
		p.mu.Unlock()
		return 0, nil, fmt.Errorf("%w: %w", lockbench.ErrNoEffect, p.failure)
	}
	p.last++
	r.ID = p.last
	p.waiting[r.ID] = waiter{to, r.renewals}
	p.mu.Unlock()
	if err := p.write(r); err != nil {
		p.unwritable(err) // half a line may be written
		return 0, nil, p.err()
	}
	return r.ID, to, nil
}

// await waits until the program has said hello, for at most helloTime.
func (p *program) await(ctx context.Context) error {
	late := time.NewTimer(helloTime)
	defer late.Stop()
	select {
	case <-p.greeted:
		return nil
	case <-p.done:
	case <-late.C:
		p.fail(fmt.Errorf("it did not say hello within %v", helloTime))
	case <-ctx.Done():
		return ctx.Err()
	}
	return p.err()
}

// end ends the program: it is told to stop and, if it does not, killed. It returns when the program
// has ended, with an error if it had to be killed.
func (p *program) end() error {
	if p.ending.Swap(true) {
		<-p.exited
		return nil
	}
	_ = p.write(request{Stop: true}) // it may have ended
	late := time.NewTimer(stopTime)
	defer late.Stop()
	select {
	case <-p.exited:
		return nil
	case <-late.C:
	}
	return errors.Join(fmt.Errorf("adapter %q did not stop within %v", p.text, stopTime), p.kill())
}

// kill kills the program, and returns when it has ended.
func (p *program) kill() error {
	p.ending.Store(true)
	if err := p.process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.exited
	return nil
}
