package load

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/inject"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/workloads"
)

// A Config describes a run. The run does not change it.
type Config struct {
	// Design is the lock under test, Services the services that it locks on: of its
	// backend, and at least as many as it needs.
	Design   design.Design
	Services backend.Group
	// Records is the service of the records that the locks guard; nil is the first service.
	// Faults of the server affect its records.
	Records design.Service
	// Workload is the program of the clients, with its Options; defaults are filled in.
	Workload workloads.Program
	Options  workloads.Options
	// Share is the part of the run that is made here: some of its groups. The zero Share is all.
	Share runinfo.Share
	// Prefix is the prefix of every key on the server. Empty is one of the run's own.
	Prefix string
	// Faults are injected into the run. They need a History.
	Faults []fault.Fault
	// History receives the record. The caller closes it after the run. Nil records nothing,
	// which is useful only to measure the cost of recording.
	History io.Writer
	// Host, when not nil, is the machine that has started the services, and that injects the faults of
	// servers.
	Host *Host
	// Barrier, when not nil, is called once everything is open. It returns when the clients shall begin, or
	// an error that ends the run before it begins.
	Barrier func(context.Context) error
	// Ended, when not nil, is called once all clients have stopped, or if none began. It returns when the clients
	// of other machines have stopped, too, or an error if they may still use keys with the Prefix: then no key is
	// removed.
	Ended func(context.Context) error
	// CommonClock, when not nil, asks for a clock that other machines know, too, in ns. The History then relates its
	// stamps to that clock.
	CommonClock func(context.Context) (int64, error)
	// Progress, when not nil, is kept up to date during the run.
	Progress *Progress
	// Broken, once closed, ends the run in good order: the reader of the growing History
	// has seen a claim broken. Nil never does.
	Broken <-chan struct{}
	// Failed, once closed, ends the run likewise: a threshold is certain to fail.
	Failed <-chan struct{}

	clock clock // waits for the arrivals of an open loop; nil is the machine's
	// unwatched disables the search for standstills, to measure its cost.
	unwatched bool
}

// A Host is another machine with the services of a run.
type Host struct {
	// Server describes the services.
	Server runinfo.Server
	// Meets takes the clients of the run once they may meet faults of servers. Ends is called when they
	// should meet no more.
	Meets func(inject.Clients)
	Ends  func()
}

func (c *Config) arrivalClock() clock {
	if c.clock != nil {
		return c.clock
	}
	return newAlarm()
}

// Progress is the progress of a run, at most a tenth of a second old. It may be read while
// the run writes it.
type Progress struct {
	// Started is when the clients began, in Unix ns; zero before.
	Started atomic.Int64
	// Duration is how long the clients will run, in ns; zero is until they are done.
	Duration atomic.Int64
	// Grants and Refused count acquires; Failed operations of any kind that
	// failed or got no answer.
	Grants, Refused, Failed atomic.Int64
	// Violations is set by the judge of the growing history.
	Violations atomic.Int64
}

// Reasons why a run ended, in Summary.Ended and in the history's trailer.
const (
	EndedDuration    = "duration"         // its time was over
	EndedOperations  = "operations"       // every client had made its share
	EndedInterrupted = "interrupted"      // the context given to Run ended
	EndedFailed      = "threshold failed" // Config.Failed was closed
	EndedBroken      = "claim broken"     // Config.Broken was closed
	EndedServerLost  = "server lost"      // the server died or answered nobody for seconds
	EndedProgramLost = "program lost"     // a process of the design, a program of its own, ended by itself
	EndedUnrecorded  = "recording failed" // the history could not be written any more
)

// A Summary is the run's description of itself. Only the history tells whether the lock is
// sound.
type Summary struct {
	// Trailer closes the history; its Ended says why the run ended.
	history.Trailer
	// Options are the options of the run, with defaults filled in.
	Options workloads.Options
	// Prefix is the prefix of every key on the server.
	Prefix string
	// Grants, Refused, Lost and Failed count the answers to the clients; Done and Skipped
	// count their business. See workloads.Counts.
	Grants, Refused, Lost, Failed, Done, Skipped int64
	// Notes tell the user about trouble with the run, such as no grants, a lost server, or
	// keys that may have been left.
	Notes []string
}

func (s *Summary) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// records is the service of the guarded records.
func (c *Config) records() design.Service {
	if c.Records != nil {
		return c.Records
	}
	return c.Services.First()
}

// services are the services that the design locks on.
func (c *Config) services() backend.Group { return c.Services.For(c.Design.ServerCount()) }

// fits returns the reason why the design cannot run on these servers or under these
// options.
func (c *Config) fits(o workloads.Options) error {
	switch n := c.Design.ServerCount(); {
	case len(c.services()) < n:
		return fmt.Errorf("design %s locks on %d servers, there are %d; hint: name as many, or none for private ones", c.Design.Name, n, len(c.services()))
	case c.Design.Control == design.OneRequest && c.Workload.Atomic == nil:
		return fmt.Errorf("design %s: workload %s has no step that one request could do; hint: workload oversell, redeem or cron", c.Design.Name, c.Workload.Name)
	case c.Design.CanLease(o.TTL) != nil:
		return c.Design.CanLease(o.TTL)
	case c.Design.Owners > 0 && perProcess(o) > c.Design.Owners:
		return fmt.Errorf("design %s: a process of it has at most %d owners, and %d processes would have %d each; hint: one process for each client", c.Design.Name, c.Design.Owners, o.Processes, perProcess(o))
	case o.Guard == lockbench.FenceGuard && !c.Design.Fences:
		return fmt.Errorf("design %s hands out no fences to show a guarded store; hint: guard %s, or a design such as lua-token/fenced", c.Design.Name, lockbench.CompareGuard)
	}
	return nil
}

// programs returns the default number of processes for clients of a design whose processes are programs,
// which take long to start: a few for each processor, and enough of them for their owners.
func programs(clients, owners int) int {
	few := max(2, runtime.NumCPU())
	return min(clients, max(few, (clients+owners-1)/owners))
}

// perProcess returns the largest number of clients of a process.
func perProcess(o workloads.Options) int { return (o.Clients + o.Processes - 1) / o.Processes }

// options returns the options of the run, or the reason why they are not valid.
func (c Config) options() (workloads.Options, error) {
	o, err := c.Workload.Options(c.Options)
	if err != nil {
		return o, fmt.Errorf("workload %s: %w", c.Workload.Name, err)
	}
	if c.Options.Processes == 0 && c.Design.Owners > 1 {
		o.Processes = programs(o.Clients, c.Design.Owners)
	}
	if err := c.fits(o); err != nil {
		return o, err
	}
	slow := time.Duration(o.SlowFactor*float64(c.Design.Lease(o.TTL))) + c.Design.Tolerance
	if o.Duration > 0 && o.Slow > 0 && slow >= o.Duration {
		return o, fmt.Errorf("workload %s: design %s grants %v and tolerates %v more: no slow hold of %v would end within the run of %v; hint: a duration of %v or a shorter ttl",
			c.Workload.Name, c.Design.Name, c.Design.Lease(o.TTL), c.Design.Tolerance, slow, o.Duration, (3 * slow).Round(time.Second))
	}
	return o, nil
}
