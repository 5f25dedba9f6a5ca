package choosing

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/lib/wrap"
)

func TestDecide(t *testing.T) {
	late := conclusion.Conclusion{Word: conclusion.NeedsGuard, Late: true, Guard: lockbench.FenceGuard}
	early := conclusion.Conclusion{Word: conclusion.NeedsGuard, Guard: lockbench.CompareGuard, BrokenUnder: []lockbench.Conditions{lockbench.Failover, lockbench.Cancel}}
	failover := conclusion.Conclusion{Word: conclusion.NeedsGuard, Guard: lockbench.CompareGuard, BrokenUnder: []lockbench.Conditions{lockbench.Outlived, lockbench.Failover}}
	for _, c := range []struct {
		harm  Harm
		found conclusion.Conclusion
		fits  bool
		guard lockbench.Guard
	}{
		{Damage, conclusion.Conclusion{Word: conclusion.Safe}, true, ""},
		{Damage, late, true, lockbench.FenceGuard},
		{Damage, early, true, lockbench.CompareGuard},
		{Damage, conclusion.Conclusion{Word: conclusion.DoNotUse}, false, ""},
		{Damage, conclusion.Conclusion{Word: conclusion.NotKnown}, false, ""},
		{Waste, late, true, ""},
		{Waste, early, false, ""},
		{Waste, failover, true, ""},
		{Waste, conclusion.Conclusion{Word: conclusion.DoNotUse}, false, ""},
	} {
		o := Option{Conclusion: c.found}
		(&Case{Harm: c.harm}).decide(&o)
		if o.Fits != c.fits || o.Guard != c.guard {
			t.Errorf("%s, %+v: got fits %v, guard %q; want %v, %q", c.harm, c.found, o.Fits, o.Guard, c.fits, c.guard)
		}
	}
}

func TestLease(t *testing.T) {
	for _, c := range []struct {
		work time.Duration
		d    design.Design
		want time.Duration
	}{
		{time.Millisecond, design.Design{}, time.Second},
		{time.Minute, design.Design{}, 3 * time.Minute},
		{time.Minute, design.Design{Renews: true}, 10 * time.Second},
		{time.Minute, design.Design{Leaseless: true}, 0},
	} {
		if got := (&Case{Work: c.work}).lease(&c.d); got != c.want {
			t.Errorf("work %v, %+v: got %v, want %v", c.work, c.d, got, c.want)
		}
	}
}

// usual is a case with a lease, in which owners may be late.
var usual = Case{Harm: Damage, Work: 50 * time.Millisecond, Service: OneRedis, Waiters: 8, Over: conclusion.Usual()}

// TestChoose checks that the best option comes first, that a lock that leaves keys stuck does
// not fit, and that every service has its own designs.
func TestChoose(t *testing.T) {
	all := Choose(usual)
	if len(all) < 10 || !all[0].Fits || !all[0].Conclusion.Late || all[0].Lease == 0 || len(all[0].Faults) == 0 {
		t.Fatalf("got %d options, the first %+v", len(all), all[:1])
	}
	for _, o := range all {
		if stuck := o.Conclusion.Word == conclusion.DoNotUse; stuck && o.Fits {
			t.Errorf("%s fits: %+v", o.Design.Name, o.Conclusion)
		}
		if o.Design.Name == "setnx-getset/naive" && o.Fits {
			t.Error("naive fits, which leaves keys stuck")
		}
	}
	if !slices.IsSortedFunc(all, func(a, b Option) int {
		if a.Fits && !b.Fits {
			return -1
		}
		return 0
	}) {
		t.Error("what does not fit stands among what does")
	}
	for service, family := range map[Service]string{OneDirectory: "file/", JetStream: "nats/", Postgres: "postgres/", MariaDB: "mariadb/", ManyRedises: "redsync/quorum"} {
		c := usual
		c.Service = service
		for _, o := range Choose(c) {
			if !strings.HasPrefix(o.Design.Name, family) {
				t.Errorf("%s: got %s", service, o.Design.Name)
			}
		}
	}
	onCluster := usual
	onCluster.Service = Cluster
	for _, o := range Choose(onCluster) {
		if strings.HasPrefix(o.Design.Name, "watch-multi/") || o.Design.Name == "redsync/quorum" {
			t.Errorf("%s does not run on a Redis Cluster", o.Design.Name)
		}
		if o.Design.Name == "lua-token/strategy" && o.Conclusion.Late {
			t.Errorf("masters with replicas that take over: got %+v, want two owners within the lease", o.Conclusion)
		}
	}
	for _, harm := range []Harm{Waste, Damage} {
		for _, over := range []lockbench.Conditions{0, usual.Over} {
			caught := false // at two owners when the primary is lost
			all := Choose(Case{Harm: harm, Work: usual.Work, Service: Replicated, Waiters: 8, Over: over})
			for _, o := range slices.Backward(all) {
				if o.Conclusion.Cell.Under.Has(lockbench.Failover) {
					caught = true
				}
				if o.Fits && caught && tooLittle(&o, lockbench.Failover) {
					t.Errorf("%s, over %v: %s stands before a lock that was caught: %+v", harm, over, o.Design.Name, o.Conclusion)
				}
			}
		}
	}
	replicas := usual
	replicas.Service = Replicated
	for _, o := range Choose(replicas) {
		if o.Design.Name == "lua-token/strategy" && o.Conclusion.Late {
			t.Errorf("replicas that take over: got %+v, want two owners within the lease", o.Conclusion)
		}
	}
}

// TestFirstWasTried checks that an option that was tried too little is not first if an equally safe
// one was tried enough.
func TestFirstWasTried(t *testing.T) {
	for _, c := range cases() {
		all := Choose(c)
		if len(all[0].Conclusion.Open) == 0 {
			continue
		}
		for _, o := range all[1:] {
			if o.place() == all[0].place() && o.Conclusion.Rank() == all[0].Conclusion.Rank() && len(o.Conclusion.Open) == 0 {
				t.Errorf("%+v: %s is first, of which little was tried: %v; all was tried of %s", c, all[0].Design.Name, all[0].Conclusion.Open, o.Design.Name)
			}
		}
	}
}

// cases returns cases of each harm and service, over no, the usual and all conditions.
func cases() (all []Case) {
	for _, harm := range []Harm{Waste, Damage} {
		for _, service := range []Service{OneRedis, Replicated, ManyRedises, OneDirectory} {
			for _, over := range []lockbench.Conditions{0, conclusion.Usual(), conclusion.All()} {
				all = append(all, Case{Harm: harm, Work: usual.Work, Service: service, Waiters: 8, Over: over})
			}
		}
	}
	return all
}

// TestOneAnswer checks that README and docs/choosing.md show the lock that comes first.
func TestOneAnswer(t *testing.T) {
	first := Choose(usual)[0].Design.Name
	for file, mention := range map[string]string{
		"../../../README.md":        "\nTake " + first + ": ",
		"../../../docs/choosing.md": "\n1. " + first + ": ",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), mention) {
			t.Errorf("%s does not have %q", file, mention)
		}
	}
}

// tooLittle reports whether two owners were tried too little under a condition.
func tooLittle(o *Option, under lockbench.Conditions) bool {
	return slices.ContainsFunc(o.Conclusion.Open, func(open conclusion.Open) bool {
		return open.Under == under && open.Of == conclusion.TwoOwners
	})
}

// TestConclusionsOfTheCatalogue checks that docs/design/conclusions.md has the conclusions that the
// rules give for each design.
func TestConclusionsOfTheCatalogue(t *testing.T) {
	text, err := os.ReadFile("../../../docs/design/conclusions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, paper, _ := strings.Cut(string(text), "## What the rule says of the catalogue")
	said := map[string]string{}
	for line := range strings.Lines(paper) {
		if cells := strings.Split(line, " | "); len(cells) == 3 {
			said[strings.TrimPrefix(cells[0], "| ")] = cells[1]
		}
	}
	for _, service := range []Service{OneRedis, ManyRedises, OneDirectory, JetStream, Postgres, MariaDB} {
		c := usual
		c.Service = service
		for _, o := range Choose(c) {
			if got := said[o.Design.Name]; got != string(o.Conclusion.Word) {
				t.Errorf("%s: the paper says %q, the rule %q: %s", o.Design.Name, got, o.Conclusion.Word, o.Conclusion.Why)
			}
			delete(said, o.Design.Name)
		}
	}
	delete(said, "design")
	if len(said) > 0 {
		t.Errorf("the released matrix has nothing of %v", said)
	}
}

func TestWrite(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, usual, Choose(usual)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1. ", "use:      lease 1s", "because:  ", "check it:\n     lockbench run --design ", "Not for this case:", "Left out, as --conditions does not name it: "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, b.String())
		}
	}
	for _, one := range cases() {
		b.Reset()
		if err := Write(&b, one, Choose(one)); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "\n"); n > 50 {
			t.Errorf("%+v: %d lines, want an answer that a screen shows", one, n)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > wrap.Width {
				t.Errorf("%+v: %d columns: %s", one, n, line)
			}
		}
	}
	unasked, long, cron := usual, usual, usual
	unasked.Unasked, long.Work, cron.Harm, cron.Work = true, 15*time.Minute, Waste, 30*time.Second
	for want, one := range map[string]Case{
		"Left out, unless --conditions names it: ":             unasked,
		"a process that dies keeps others out for up to 45m0s": long,
		"no guard, as two at once only waste work":             cron,
		"check it, 300ms of work standing for 30s:":            cron,
		"--hold \\\n         300ms --ttl 100ms\n":              cron, // hash-reentrant/notify has to renew, as it would in 30 s
	} {
		b.Reset()
		if err := Write(&b, one, Choose(one)); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in (%v):\n%s", want, err, b.String())
		}
	}
	b.Reset()
	if err := Write(&b, usual, nil); err != nil || !strings.HasSuffix(b.String(), "None of the 0 designs on redis fits.\n") {
		t.Errorf("nothing fits: got %q, %v", b.String(), err)
	}
}

// TestAsk checks that Ask asks only the questions without an answer, repeats one after a wrong
// answer, and takes the default for an empty line.
func TestAsk(t *testing.T) {
	got := map[string]string{"waiters": "3"}
	set := func(flag, value string) error {
		if value == "long" {
			return errors.New("long is no duration")
		}
		got[flag] = value
		return nil
	}
	known := func(flag string) bool { return got[flag] != "" }
	var out strings.Builder
	if err := Ask(strings.NewReader("waste\nlong\n2s\n\ncrash\n"), &out, known, set); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"waiters": "3", "if-two-hold": "waste", "work": "2s", "service": "redis", "conditions": "crash"}
	for flag, value := range want {
		if got[flag] != value {
			t.Errorf("%s: got %q, want %q", flag, got[flag], value)
		}
	}
	if !strings.Contains(out.String(), "long is no duration") {
		t.Errorf("nothing is said of a wrong answer: %s", out.String())
	}
	if err := Ask(strings.NewReader(""), &out, func(string) bool { return false }, set); err == nil || !strings.Contains(err.Error(), "--if-two-hold") {
		t.Errorf("nobody answers: got %v", err)
	}
}

func TestCheck(t *testing.T) {
	if err := usual.Check(); err != nil {
		t.Errorf("usual: %v", err)
	}
	for want, change := range map[string]func(*Case){
		"--if-two-hold": func(c *Case) { c.Harm = "none" }, "--service": func(c *Case) { c.Service = "etcd" },
		"--work": func(c *Case) { c.Work = 0 }, "--waiters 0": func(c *Case) { c.Waiters = 0 },
		"--waiters 2000000000": func(c *Case) { c.Waiters = 2_000_000_000 },
	} {
		c := usual
		change(&c)
		if err := c.Check(); err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "hint: ") {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

// TestStarted checks that runs of all services have every design once, each on its own service.
func TestStarted(t *testing.T) {
	var all []string
	for _, service := range Started() {
		designs, err := On(service)
		if err != nil || len(designs) == 0 {
			t.Errorf("%s: %d designs, error %v", service, len(designs), err)
		}
		for _, d := range designs {
			if !Service(service).has(&d) {
				t.Errorf("%s does not lock on %s", d.Name, service)
			}
			all = append(all, d.Name)
		}
	}
	want := impls.Names()
	slices.Sort(want)
	slices.Sort(all)
	if !slices.Equal(all, want) {
		t.Errorf("got %v, want %v", all, want)
	}
	for _, other := range []string{"", "cluster", "etcd"} {
		if _, err := On(other); err == nil || !strings.Contains(err.Error(), "hint: ") {
			t.Errorf("--service %q: error %v", other, err)
		}
	}
}
