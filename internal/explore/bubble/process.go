package bubble

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/lib/subprocess"
)

// A process is a child, as its parent sees it.
type process struct {
	in        io.Closer
	words     subprocess.Excerpt
	messages  chan message  // closed at the end of the child's output
	ended     chan struct{} // closed when the parent no longer reads messages
	terminate func() error  // kills the child
	wait      func() error  // reaps it, once
	grace     time.Duration // the time to answer after it is told to stop
}

// settings returns the environment of the child's runtime. An exploration is one long chain of
// goroutines that wake each other, which several threads only slow down, and it makes much
// short-lived garbage. math/rand can be seeded, for locks that use it.
func settings() []string {
	return []string{
		"GOMAXPROCS=1", "GOGC=400",
		"GODEBUG=" + strings.Trim(os.Getenv("GODEBUG")+",randseednop=0", ","),
		childVariable + "=1",
	}
}

func start(job Job) (*process, error) {
	d := &job.Config.Design
	order, err := json.Marshal(request{Config: job.Config, Design: d.Name, Definition: d.Definition, Claims: d.Claims, Replay: job.Replay.Text})
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{messages: make(chan message), ended: make(chan struct{}), grace: grace}
	// The program may depend on the name that it was started by, so the child gets the same name.
	cmd := &exec.Cmd{Path: self, Args: os.Args[:1:1], Stderr: &p.words, Env: append(os.Environ(), settings()...)}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.in, p.terminate, p.wait = in, cmd.Process.Kill, sync.OnceValue(cmd.Wait)
	go p.read(out)
	// A child that has already ended shows that by the end of its output.
	_, _ = in.Write(append(order, '\n'))
	return p, nil
}

// read passes on the messages of the child. Other lines were printed by the lock, bypassing
// os.Stdout.
func (p *process) read(out io.Reader) {
	defer close(p.messages)
	for lines := bufio.NewReaderSize(out, 1<<16); ; {
		line, err := lines.ReadBytes('\n')
		var m message
		if json.Unmarshal(line, &m) == nil {
			select {
			case p.messages <- m:
			case <-p.ended:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// stop asks the child to end.
func (p *process) stop() { _ = p.in.Close() }

// kill ends the child, if it has not ended, and returns the end of its standard error.
func (p *process) kill() string {
	p.stop()
	_ = p.terminate()
	_ = p.wait()
	return p.words.Tail()
}

// end removes all traces of the child.
func (p *process) end() {
	close(p.ended)
	p.kill()
	for range p.messages { // until the reader has ended, too
	}
}

// died returns an error that explains the end of a child that did not answer.
func (p *process) died() error {
	err := p.wait()
	if err == nil {
		return &Failure{Reason: "the process that explored ended without an answer", Stderr: p.words.Tail()}
	}
	reason := fmt.Sprintf("the process that explored died (%v)", err)
	if cause := cause(&p.words); cause != "" {
		reason += ": " + cause
	}
	return &Failure{Reason: reason, Stderr: p.words.Tail()}
}

// crashes are the beginnings of the lines in which a Go program states why it ended.
var crashes = []string{"panic: ", "fatal error: ", "WARNING: DATA RACE"}

// cause returns the line of its words that states why the child ended, else the last one.
func cause(words *subprocess.Excerpt) string {
	for line := range strings.Lines(words.Head()) {
		for _, crash := range crashes {
			if strings.HasPrefix(line, crash) {
				return strings.TrimSpace(line)
			}
		}
	}
	text := words.Tail()
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
