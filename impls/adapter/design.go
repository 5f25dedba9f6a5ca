package adapter

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/etcd"
	"github.com/lockbench/lockbench/internal/service/mariadb"
	"github.com/lockbench/lockbench/internal/service/postgres"
	"github.com/lockbench/lockbench/internal/service/zookeeper"
)

// Design starts an adapter, by the command of a user, for its hello, and returns its lock as a design. The
// error names the command, the reason and the adapter's last words.
func Design(ctx context.Context, command string) (design.Design, error) {
	hello, _, err := describe(ctx, command)
	if err != nil {
		return design.Design{}, err
	}
	return hello.design(command)
}

// describe starts an adapter for it to say hello, and returns the backend of its service, too, nil for
// Redis.
func describe(ctx context.Context, command string) (Hello, design.Backend, error) {
	p, err := start(command, greeting{Hello: Version, Servers: []string{}})
	if err != nil {
		return Hello{}, nil, err
	}
	err = p.await(ctx)
	if ended := p.end(); err == nil {
		err = ended
	}
	if err != nil {
		return Hello{}, nil, err
	}
	backend, err := p.hello.backend()
	if err != nil {
		err = fmt.Errorf("adapter %q: %w", command, err)
	}
	return p.hello, backend, err
}

// design returns the design of an adapter that said hello.
func (h Hello) design(command string) (design.Design, error) {
	claims, err := h.claims()
	if err != nil {
		return design.Design{}, fmt.Errorf("adapter %q: claims: %w", command, err)
	}
	backend, err := h.backend()
	if err != nil {
		return design.Design{}, fmt.Errorf("adapter %q: %w", command, err)
	}
	h.NowNS = 0 // a definition stays the same
	defined, err := json.Marshal(definition{command, h})
	if err != nil {
		return design.Design{}, err
	}
	d := design.Design{
		Name:         h.designName(),
		Definition:   string(defined),
		Arguments:    fmt.Sprintf("--adapter '%s'", strings.ReplaceAll(command, "'", `'\''`)),
		Summary:      fmt.Sprintf("%s, by an adapter", strings.Join(strings.Fields(fmt.Sprintf("%s %s (%s)", cmp.Or(h.Library, h.Name), h.Version, cmp.Or(h.Runtime, "runtime unknown"))), " ")),
		Source:       "the command line",
		Library:      h.library(),
		Claims:       claims,
		Reacquire:    design.Refused,
		Renews:       h.renews(),
		RenewsUnseen: h.renews(),
		Leaseless:    h.Leaseless,
		Granted:      h.granted,
		Fences:       h.has(Fence),
		Foreign:      true,
		Owners:       h.Owners,
		LiveOnly:     "it is a program of its own, which virtual time does not reach",
		Backend:      backend,
		Open:         func(env design.Environment) (design.Process, error) { return open(command, h, Settings{}, env) },
	}
	if h.has(Reentrant) {
		d.Reacquire = design.Nested
	}
	return d, nil
}

// Backends returns the services beside Redis that an adapter may name.
func Backends() []design.Backend { return slices.Clone(backends) }

// backends are the services beside Redis that an adapter may name.
var backends = []design.Backend{etcd.Backend{}, postgres.Backend{}, mariadb.Backend{}, zookeeper.Backend{}}

// backend returns the backend of the service that the adapter stands on, nil for Redis.
func (h *Hello) backend() (design.Backend, error) {
	const redis = "redis"
	if h.Service == "" || h.Service == redis {
		return nil, nil
	}
	names := []string{redis}
	for _, b := range backends {
		if b.Name() == h.Service {
			return b, nil
		}
		names = append(names, b.Name())
	}
	return nil, fmt.Errorf("its hello says service %q, which there is none of; hint: one of %v", h.Service, names)
}

// Settings change how a run uses an adapter.
type Settings struct {
	Waits  bool // the library waits in place of the driver
	Stamps bool // times are of the adapter's clock in place of the driver's
}

// With returns a design of [Design] with settings. The error says why it cannot.
func With(d design.Design, s Settings) (design.Design, error) {
	var of definition
	if err := json.Unmarshal([]byte(d.Definition), &of); err != nil {
		return d, fmt.Errorf("design %s is not an adapter: %w", d.Name, err)
	}
	if s.Waits && !of.Hello.has(Wait) {
		return d, fmt.Errorf("adapter %q: its hello does not say %s, so its library cannot wait; hint: --waits driver, or an adapter with that ability", of.Command, Wait)
	}
	if s.Waits {
		d.Summary += ", whose library waits"
	}
	if s.Stamps {
		if err := of.Hello.stampable(); err != nil {
			return d, fmt.Errorf("adapter %q: %w", of.Command, err)
		}
		d.Summary += ", by its own clock"
		d.OwnStamps = true
		// After a release of unknown outcome, levels may remain that the lock renews for nobody.
		d.RenewsUnseen = d.RenewsUnseen && (!of.Hello.tellsRenewals() || of.Hello.has(Reentrant))
	}
	d.Open = func(env design.Environment) (design.Process, error) { return open(of.Command, of.Hello, s, env) }
	return d, nil
}

// unusual matches characters that names of designs do not have.
var unusual = regexp.MustCompile(`[^a-z0-9./-]+`)

// designName returns the name of the design: "adapter/NAME", or the name if it has a family.
func (h *Hello) designName() string {
	name := strings.Trim(unusual.ReplaceAllString(strings.ToLower(h.Name), "-"), "/-")
	if strings.Count(name, "/") == 1 {
		return name
	}
	return "adapter/" + strings.ReplaceAll(name, "/", "-")
}

func (h *Hello) library() string {
	if h.Library == "" || h.Version == "" {
		return h.Library
	}
	return h.Library + "@" + h.Version
}

// claims returns the claims that a lock of such abilities can keep, changed by the adapter's own terms.
func (h *Hello) claims() (lockbench.Claims, error) {
	var with []lockbench.Guarantee
	if h.has(Fence) {
		with = append(with, lockbench.Fencing)
	}
	c := lockbench.LeaseClaims(with...)
	if h.renews() {
		c = c.Renewing()
	}
	if h.Leaseless {
		c = c.Without(lockbench.LeaseKept)
	}
	if h.ReleaseTells != nil && !*h.ReleaseTells {
		c = c.Without(lockbench.LossReported)
	}
	return c.Parse(h.Claims...)
}

func (h *Hello) renews() bool { return h.Renews == RenewsTold || h.Renews == RenewsUnseen }

// tellsRenewals reports whether renewals are recorded if stamps are the adapter's. A lock without a lease has
// nothing to renew.
func (h *Hello) tellsRenewals() bool { return h.Renews == RenewsTold && !h.Leaseless }

func (h *Hello) has(a Ability) bool { return slices.Contains(h.Can, a) }
