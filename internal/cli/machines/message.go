package machines

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/clockwatch"
	"github.com/lockbench/lockbench/internal/drive/inject"
	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/lib/buildinfo"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/workloads"
)

// The verbs of requests. The first three are to the coordinator, the others to an agent.
const (
	helloVerb   = "hello"
	beatVerb    = "beat"
	probeVerb   = "probe"
	orderVerb   = "order"
	goVerb      = "go"
	stopVerb    = "stop"
	sweepVerb   = "sweep"
	pullVerb    = "pull"
	resultVerb  = "result"
	effectVerb  = "effect"
	holdingVerb = "holding"
	leaveVerb   = "leave"
)

// blockSize is the largest number of bytes of a history in one message. The default limit of a NATS server
// is 1 MiB with headers.
const blockSize = 256 << 10

// A hello is the first message of an agent. ID is random, and names the agent from then on.
type hello struct {
	ID, Version, Host string
	PID               int
}

// A welcome answers a hello: the share of the agent in all runs.
type welcome struct{ Share runinfo.Share }

// A beat is an agent's regular message. Run is the number of its last order, zero for none. That run is Ready
// once it waits for the instant at which clients begin, is Over when they end, has Stopped, with shared keys, when none
// of them is left, and has Ended once its history is complete.
type beat struct {
	ID                              string
	Run                             int
	Ready, Over, Stopped, Ended     bool
	Grants, Refused, Failed, Length int64
	// Ahead is how much the agent's wall clock is ahead of the coordinator's, Width the width of the
	// bounds on that; both are zero before the second beat.
	Ahead, Width time.Duration
	// Leaves is set if the agent ends after this run, because it was interrupted.
	Leaves bool
}

// An instant answers a beat: the coordinator's clock, in ns since it began, and its wall clock in Unix ns.
type instant struct{ Clock, Wall int64 }

// An order describes a run and the share of it that an agent makes. It has all that decides which requests
// the agent sends.
type order struct {
	Run      int
	Version  string
	Share    runinfo.Share
	Design   string
	Backend  string // of the services that the design locks on
	Claims   lockbench.Claims
	Workload string
	Options  workloads.Options
	Prefix   string `json:",omitempty"` // of shared keys
	Faults   []string
	Servers  []string // with passwords
	// Way leads to the servers if the coordinator has started them; else it is nil.
	Way *way `json:",omitempty"`
}

// newOrder returns the order for a run on those of the addresses that the design's backend serves. The caller
// sets Run, Share and Way.
func newOrder(c *load.Config, addresses []string) order {
	on := servers.BackendOf(&c.Design)
	o := order{
		Version: buildinfo.Version(), Design: c.Design.Name, Backend: on.Name(), Claims: c.Design.Claims,
		Workload: c.Workload.Name, Options: c.Options, Prefix: c.Prefix,
	}
	for _, address := range addresses {
		if on.Serves(address) {
			o.Servers = append(o.Servers, address)
		}
	}
	for _, f := range c.Faults {
		o.Faults = append(o.Faults, f.String())
	}
	return o
}

// String returns the order as JSON without passwords.
func (o order) String() string {
	o.Servers = slices.Clone(o.Servers)
	for i, address := range o.Servers {
		o.Servers[i] = redacted(address)
	}
	if o.Way != nil {
		printed := *o.Way
		printed.Records, printed.There = redacted(printed.Records), slices.Clone(printed.There)
		for i, address := range printed.There {
			printed.There[i] = redacted(address)
		}
		o.Way = &printed
	}
	return string(o.document())
}

// redacted returns an address without its password.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "unreadable"
	}
	u.RawQuery = ""
	return u.Redacted()
}

// document returns the order as JSON.
func (o order) document() []byte {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // it is plain data
	}
	return text
}

// digest identifies the order. An agent that understands less of it than it has computes another one.
func (o order) digest() string {
	sum := sha256.Sum256(o.document())
	return hex.EncodeToString(sum[:])
}

// config returns the run that the order describes, without the fields of the agent.
func (o order) config() (c load.Config, err error) {
	if is := buildinfo.Version(); o.Version != is {
		return c, fmt.Errorf("the order is of lockbench %s, and this is %s; hint: the same lockbench on all machines", o.Version, is)
	}
	c = load.Config{Options: o.Options, Share: o.Share, Prefix: o.Prefix}
	if o.Prefix != "" && !servers.IsPrefix(o.Prefix) { // keys with it are removed
		return c, fmt.Errorf("the order has keys %s*, which are not those of a run", o.Prefix)
	}
	if o.Options.SharedKeys {
		if err := clockwatch.Check(); err != nil {
			return c, fmt.Errorf("shared keys: %w", err)
		}
	}
	if c.Design, err = designOf(o.Design, o.Backend); err != nil {
		return c, err
	}
	c.Design.Claims = o.Claims
	if c.Workload, err = workloads.Find(workloads.Live, o.Workload); err != nil {
		return c, err
	}
	c.Faults, err = fault.ParseAll(o.Faults)
	return c, err
}

// selfCheck begins the names of the locks that are broken on purpose.
const selfCheck = "self-check/"

// designOf returns a lock or control of the catalogue, or one that is broken on purpose, by its name. A
// control is on the backend of that name.
func designOf(name, backend string) (design.Design, error) {
	if mutant, is := strings.CutPrefix(name, selfCheck); is {
		known := func(m mutants.Mutant) bool { return m.Name == mutant }
		if mutant != "bare" && !slices.ContainsFunc(mutants.Mutants(), known) {
			return design.Design{}, fmt.Errorf("design %s: unknown; hint: the same lockbench on all machines", name)
		}
		return mutants.SelfCheck(mutant), nil
	}
	found, err := impls.MatchRun(name)
	if err != nil {
		return design.Design{}, err
	}
	d := found[0]
	if d.Control == "" || backend == servers.BackendOf(&d).Name() {
		return d, nil
	}
	all := impls.All()
	i := slices.IndexFunc(all, func(other design.Design) bool { return servers.BackendOf(&other).Name() == backend })
	if i < 0 {
		return d, fmt.Errorf("backend %s of design %s: unknown; hint: the same lockbench on all machines", backend, name)
	}
	d.Backend = all[i].Backend
	return d, nil
}

// An accepted answers an order: the digest of the order as the agent understood it.
type accepted struct{ Digest string }

// A start names the instant at which the clients of a run begin, on the coordinator's clock.
type start struct {
	Run int
	At  int64
}

// A stop ends a run early, for one of the reasons of package load.
type stop struct {
	Run int
	Why string
}

// A sweep says that the clients of a run with shared keys have stopped on all machines, so that its keys can be
// removed. They must not be if Why says which machine's clients may still run.
type sweep struct {
	Run int
	Why string
}

// A pull asks for a block of the history of a run, of at most Length bytes.
type pull struct {
	Run            int
	Offset, Length int64
}

// The headers of the answer to a pull, whose payload is the block.
const (
	wholeHeader = "Lockbench-Whole" // set if the history is complete and ends with this block
	errorHeader = "Lockbench-Error" // the reason why there is no block
)

// A question asks for the result of a run that has ended.
type question struct{ Run int }

// A result is the outcome of an agent's share.
type result struct {
	Notes []string
	Err   string // empty for none
	// Busy is the share of the processors' time on the agent's machine that was used, nil if unknown.
	Busy *float64
}

// An effect is one step of a fault of a server in a run. An agent applies each Number once, in order.
type effect struct {
	Run, Number int
	Effect      inject.Effect
}

// A holding asks for the state of the locks in a run, at the next grant or after Wait.
type holding struct {
	Run  int
	Wait time.Duration
}

// A leave ends an agent. Why is empty if all its histories were copied.
type leave struct{ Why string }
