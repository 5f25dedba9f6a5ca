package choosing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/evidence"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/evidence/known"
	"github.com/lockbench/lockbench/workloads"
)

// A Case describes a user's need of a lock.
type Case struct {
	// Harm is the damage if two clients hold the lock at once.
	Harm Harm
	// Work is the usual duration of the work under the lock.
	Work time.Duration
	// Service is the service to lock on.
	Service Service
	// Waiters is the number of clients that want one key at the same time.
	Waiters int
	// Over are the conditions that can happen, in addition to the conditions of the service.
	Over lockbench.Conditions
	// Unasked reports whether nobody chose Over: it is the default.
	Unasked bool
}

// Harm is the damage if two clients hold a lock at once.
type Harm string

// The harms.
const (
	Waste  Harm = "waste"  // work is done twice
	Damage Harm = "damage" // something is wrong afterwards
)

// Harms lists the harms.
func Harms() []string { return []string{string(Waste), string(Damage)} }

// A Service is a kind of service to lock on.
type Service string

// The services.
const (
	OneRedis     Service = "redis"    // one server
	Replicated   Service = "replicas" // one server with replicas that take over
	Cluster      Service = "cluster"  // a Redis Cluster, of masters with replicas that take over
	ManyRedises  Service = "quorum"   // several servers that know nothing of each other
	OneDirectory Service = "files"    // a directory of one machine
	JetStream    Service = "nats"     // a NATS server with JetStream
	Postgres     Service = "postgres" // a PostgreSQL server, perhaps behind a pooler
	MariaDB      Service = "mariadb"  // a MariaDB server
)

// Services lists the services.
func Services() []string {
	return []string{string(OneRedis), string(Replicated), string(Cluster), string(ManyRedises), string(OneDirectory), string(JetStream), string(Postgres), string(MariaDB)}
}

// has reports whether a design locks on the service.
func (s Service) has(d *design.Design) bool {
	switch s {
	case OneDirectory:
		return d.Backend != nil && d.Backend.Serves("file:///")
	case JetStream, Postgres, MariaDB:
		return d.Backend != nil && strings.HasPrefix(d.Backend.Name(), string(s))
	case ManyRedises:
		return d.Backend == nil && d.ServerCount() > 1
	case Cluster:
		return d.Backend == nil && d.ServerCount() == 1 && d.OnCluster()
	}
	return d.Backend == nil && d.ServerCount() == 1
}

// Started lists the services that runs start: all but those of a Redis with others around it, which
// has the designs of one alone.
func Started() (names []string) {
	for _, name := range Services() {
		if slices.ContainsFunc(impls.All(), func(d design.Design) bool { return serviceOf(&d) == Service(name) }) {
			names = append(names, name)
		}
	}
	return names
}

// On returns the designs on a service of [Started].
func On(service string) ([]design.Design, error) {
	if !slices.Contains(Started(), service) {
		return nil, fmt.Errorf("--service %q: it is none of %s, and not all; hint: --service redis has the designs for a Cluster or replicas of yours (--server URL), and --adapter runs locks on other services", service, strings.Join(Started(), ", "))
	}
	return slices.DeleteFunc(impls.All(), func(d design.Design) bool { return serviceOf(&d) != Service(service) }), nil
}

// serviceOf returns the first service that a design locks on.
func serviceOf(d *design.Design) Service {
	for _, name := range Services() {
		if s := Service(name); s.has(d) {
			return s
		}
	}
	return ""
}

// An Option is a design on the service of a case, with the reasons for and against it.
type Option struct {
	Design design.Design
	// Own reports whether the lock is the user's own: the released matrix does not have it.
	Own        bool
	Conclusion conclusion.Conclusion
	// GrantsPerS is the rate of grants, per second, in the released matrix.
	GrantsPerS float64
	// Lease and Guard are the settings to use the design with; an empty Guard is none.
	Lease time.Duration
	Guard lockbench.Guard
	// Fits reports whether the design can be used in the case, and Why is the reason.
	Fits bool
	Why  string
	// Commands are command lines that test the design in the case: first without a fault, then with
	// each of Faults, one at a time.
	Commands, Faults []string
	// lucky reports whether exclusion was tried too little under a condition for which the design
	// does not claim it: a breach is to be expected, although none was seen.
	lucky bool
	// breaks is the number of sets of conditions, of the case and usual ones, under which it breaks.
	breaks int
}

// Choose returns the designs on the service of a case, the best first, and locks of the user's own.
// It leaves out designs that the released matrix does not have.
func Choose(c Case, own ...design.Design) (all []Option) {
	for _, d := range own {
		o := Option{Design: d, Own: true, Lease: c.lease(&d), Conclusion: conclusion.Draw(evidence.Lock(d), c.over())}
		o.Commands, o.Faults = c.commands(&o)
		all = append(all, o)
	}
	for _, d := range impls.All() {
		row, is := known.Released(d.Name)
		if !c.Service.has(&d) || !is {
			continue
		}
		lock := evidence.Lock(d)
		lock.Foreign |= lockbench.ThreadDeath
		found := row.Parts.Evidence(conclusion.Known, &lockbench.Claims{})
		o := Option{
			Design: d, GrantsPerS: row.Parts[0].GrantsPerS, Lease: c.lease(&d),
			Conclusion: conclusion.Draw(lock, c.over(), found...),
		}
		o.breaks = len(conclusion.Draw(lock, c.over()|conclusion.Usual(), found...).BrokenUnder)
		o.lucky = slices.ContainsFunc(o.Conclusion.Open, func(open conclusion.Open) bool {
			return open.Of == conclusion.TwoOwners && open.Under != lockbench.Outlived && !d.Claims.Claims(lockbench.Exclusion.At(open.Under))
		})
		c.decide(&o)
		o.Commands, o.Faults = c.commands(&o)
		all = append(all, o)
	}
	conclusion.SortRivals(all, func(o *Option) conclusion.Rival {
		return conclusion.Rival{Conclusion: &o.Conclusion, Tried: len(o.Conclusion.Open) == 0, Breaks: o.breaks, Rate: o.GrantsPerS}
	})
	slices.SortStableFunc(all, func(a, b Option) int { return a.place() - b.place() })
	return all
}

// place returns 0 for an option that fits, 1 if it does by luck, and 2 if it does not fit.
func (o *Option) place() int {
	switch {
	case !o.Fits:
		return 2
	case o.lucky:
		return 1
	}
	return 0
}

// over returns the conditions that conclusions on the case cover. If the service has replicas, one
// takes over eventually.
func (c *Case) over() lockbench.Conditions {
	if c.Service == Replicated || c.Service == Cluster {
		return c.Over | lockbench.Failover
	}
	return c.Over
}

// decide decides whether an option fits the case.
func (c *Case) decide(o *Option) {
	o.Why = o.Conclusion.Why
	switch o.Conclusion.Word {
	case conclusion.DoNotUse, conclusion.NotKnown:
	case conclusion.NeedsGuard:
		// Without a guard, a late owner or a server that lost a grant sometimes causes work to be
		// done twice, which Waste accepts. Any other breach is worse, seen or to be expected.
		o.Fits = c.Harm == Damage || o.rare() && !o.lucky
		switch {
		case c.Harm == Damage:
			o.Guard = o.Conclusion.Guard
		case o.Fits:
			o.Why += ": work is then done twice"
		}
	default:
		o.Fits = true
	}
}

// rare reports whether two owners were seen only where an owner was late, or where the server had
// lost the grant or ended the session, which befalls every lock on one primary.
func (o *Option) rare() bool {
	return o.Conclusion.Late || !slices.ContainsFunc(o.Conclusion.BrokenUnder, func(under lockbench.Conditions) bool {
		return under&(lockbench.Outlived|lockbench.Failover|lockbench.StateLoss|lockbench.SessionKilled) == 0
	})
}

const (
	// room is the ratio of a lease without renewal to the work, so that a short delay does not
	// outlive the lease.
	room = 3
	// leastLease is the shortest lease that is advised.
	leastLease = time.Second
)

// lease returns the lease to request. For a lock that renews its lease, it must outlast a
// standstill of the owner, not the work.
func (c *Case) lease(d *design.Design) time.Duration {
	if d.Leaseless {
		return 0
	}
	lease := leastLease
	if d.Renews {
		lease = 10 * time.Second
	} else if c.Work*room > lease {
		lease = c.Work * room
	}
	return lease.Round(time.Second)
}

// faults has the fault of lockbench run that brings about each condition, as far as a private
// server suffices for it.
var faults = map[lockbench.Conditions]string{
	lockbench.Pause: "pause", lockbench.Crash: "crash", lockbench.LostReply: "lost-reply", lockbench.Cancel: "cancel",
	lockbench.Skew: "skew", lockbench.ScriptFlush: "script-flush", lockbench.StateLoss: "restart", lockbench.Failover: "failover",
	lockbench.SessionKilled: "session-kill",
}

// longestTried is the longest work in the commands that check an option, and leastRenewed the shortest
// lease of a lock that renews it.
const (
	longestTried = 300 * time.Millisecond
	leastRenewed = 100 * time.Millisecond
)

// triedLease returns the lease for work that stands for that of c. If the work of c needs renewals, so does
// this.
func (c *Case) triedLease(tried *Case, d *design.Design) time.Duration {
	lease := c.lease(d)
	if d.Renews && c.Work > lease {
		return max(leastRenewed, time.Duration(float64(tried.Work)*float64(lease)/float64(c.Work)).Round(time.Millisecond))
	}
	return tried.lease(d)
}

// commands returns command lines that test an option in the case: live, without and with its
// conditions, and by exploration.
func (c *Case) commands(o *Option) (all, kinds []string) {
	tried := *c
	tried.Work = min(c.Work, longestTried) // so that a run of seconds has many rounds
	run := "lockbench run " + cmp.Or(o.Design.Arguments, "--design "+o.Design.Name) + fmt.Sprintf(" --clients %d --keys 1 --hold %v", max(2, c.Waiters), tried.Work)
	if o.Lease > 0 {
		run += fmt.Sprintf(" --ttl %v", c.triedLease(&tried, &o.Design))
	}
	if o.Guard != "" {
		run += " --guard " + string(o.Guard)
	}
	for _, one := range (c.over() &^ evidence.Lock(o.Design).Foreign).Each() {
		if f := faults[one]; f != "" {
			kinds = append(kinds, f)
		}
	}
	all = []string{run}
	if o.Design.Explorable() == nil {
		all = append(all, "lockbench explore "+o.Design.Name)
	}
	return all, kinds
}

// Check returns an error if a value of the case is wrong, or if a lock of the user's own is not on its
// service.
func (c Case) Check(own ...design.Design) error {
	switch {
	case !slices.Contains(Harms(), string(c.Harm)):
		return fmt.Errorf("--if-two-hold %q: it is none of %s; hint: damage, unless work done twice costs time alone", c.Harm, strings.Join(Harms(), ", "))
	case !slices.Contains(Services(), string(c.Service)):
		return fmt.Errorf("--service %q: it is none of %s; hint: redis is one server", c.Service, strings.Join(Services(), ", "))
	case c.Work <= 0:
		return fmt.Errorf("--work %v: it is not above zero; hint: how long the work under the lock usually takes, such as 50ms", c.Work)
	case c.Waiters < 1:
		return fmt.Errorf("--waiters %d: nobody would want the lock; hint: how many want one key at the same time, such as 8", c.Waiters)
	}
	for _, d := range own {
		if !c.Service.has(&d) {
			return fmt.Errorf("--service %s: %s does not lock on it; hint: --service redis, or choose without this lock", c.Service, d.Name)
		}
	}
	o := workloads.Defaults()
	o.Clients = c.Waiters
	if _, err := workloads.Must("mutex").Options(o); err != nil {
		return fmt.Errorf("--waiters %d: the commands of the answer would have as many clients: %w", c.Waiters, err)
	}
	return nil
}
