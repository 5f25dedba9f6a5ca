package load

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/backend"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/workloads"
)

// A Config says what to run. It is not changed by the run.
type Config struct {
	// Design is the lock under test, Services what it locks on: of its backend, and as many
	// as it needs at least.
	Design   design.Design
	Services backend.Group
	// Records is where the records that the locks guard are kept; nil is on the first
	// service. Faults of the server affect what is kept there.
	Records design.Service
	// Workload is what the clients do, Options how; defaults are filled in.
	Workload workloads.Program
	Options  workloads.Options
	// Faults are what goes wrong in it; none, unless asked for. They need a History.
	Faults []fault.Fault
	// History receives the record. The caller closes it after the run. Nil
	// records nothing, which is of use only to see what recording costs.
	History io.Writer
	// Progress, when not nil, is kept up to date during the run.
	Progress *Progress
	// Broken, once closed, ends the run in good order: whoever reads the History as it
	// grows has seen enough. Nil never does.
	Broken <-chan struct{}
	// Failed, once closed, ends it likewise: a threshold is certain to fail.
	Failed <-chan struct{}

	clock clock // waits for the arrivals of an open loop; nil is the machine's
	// unwatched: nobody looks for standstills, to see what that costs.
	unwatched bool
}

func (c *Config) arrivalClock() clock {
	if c.clock != nil {
		return c.clock
	}
	return newAlarm()
}

// Progress is how far a run has come, a tenth of a second old at most. It may be
// read while the run writes it.
type Progress struct {
	// Started is when the clients began, in Unix ns; zero before.
	Started atomic.Int64
	// Duration is how long they are to run, in ns; zero is until done.
	Duration atomic.Int64
	// Grants and Refused count acquires; Failed operations of any kind that
	// failed or got no answer.
	Grants, Refused, Failed atomic.Int64
	// Violations is set by the judge of the growing history.
	Violations atomic.Int64
}

// Why a run ended, as Summary.Ended and the history's trailer say it.
const (
	EndedDuration    = "duration"         // its time was over
	EndedOperations  = "operations"       // every client had made its share
	EndedInterrupted = "interrupted"      // the context given to Run ended
	EndedFailed      = "threshold failed" // Config.Failed was closed
	EndedBroken      = "claim broken"     // Config.Broken was closed
	EndedServerLost  = "server lost"      // the server died or answered nobody for seconds
	EndedUnrecorded  = "recording failed" // the history could not be written on
)

// A Summary is what a run says of itself. Whether the lock is sound, only the
// history says.
type Summary struct {
	// Trailer closes the history; its Ended says why the run ended.
	history.Trailer
	// Options are those that were run, with defaults filled in.
	Options workloads.Options
	// Prefix began every key on the server.
	Prefix string
	// Grants, Refused, Lost and Failed count what the clients were told; Done and
	// Skipped is the business they did. See workloads.Counts.
	Grants, Refused, Lost, Failed, Done, Skipped int64
	// Notes say what a user should know about the run: that nothing was granted,
	// that the server was lost, that keys may have been left.
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

// services are those that the design locks on.
func (c *Config) services() backend.Group { return c.Services.For(c.Design.ServerCount()) }

// fits returns why the design cannot run on these servers or under these options.
func (c *Config) fits(o workloads.Options) error {
	switch n := c.Design.ServerCount(); {
	case len(c.services()) < n:
		return fmt.Errorf("design %s locks on %d servers, there are %d; hint: name as many, or none for private ones", c.Design.Name, n, len(c.services()))
	case c.Design.Control == design.OneRequest && c.Workload.Atomic == nil:
		return fmt.Errorf("design %s: workload %s has no step that one request could do; hint: workload oversell, redeem or cron", c.Design.Name, c.Workload.Name)
	case c.Design.CanLease(o.TTL) != nil:
		return c.Design.CanLease(o.TTL)
	case o.Guard == lockbench.FenceGuard && !c.Design.Fences:
		return fmt.Errorf("design %s hands out no fences to show a guarded store; hint: guard %s, or a design such as lua-token/fenced", c.Design.Name, lockbench.CompareGuard)
	}
	return nil
}

// options returns the options as they will be run, or why they cannot be.
func (c Config) options() (workloads.Options, error) {
	o, err := c.Workload.Options(c.Options)
	if err != nil {
		return o, fmt.Errorf("workload %s: %w", c.Workload.Name, err)
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
