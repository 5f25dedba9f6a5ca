package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/cli/machines"
	"github.com/lockbench/lockbench/internal/drive/clockwatch"
	"github.com/lockbench/lockbench/internal/drive/inject"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/lib/legible"
	"github.com/lockbench/lockbench/internal/lib/tempdir"
	"github.com/lockbench/lockbench/internal/lib/wrap"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// tokenVariable names the environment variable that --token falls back to.
const tokenVariable = "LOCKBENCH_TOKEN"

// machineFlags are the flags of runs that several machines make.
type machineFlags struct{ config machines.Config }

// machineFlagNames are the flags that have no effect without --agents.
var machineFlagNames = []string{"shared-keys", "listen", "nats", "token", "tls-cert", "tls-key"}

func (m *machineFlags) add(f *pflag.FlagSet, p *workloads.Options) {
	c := &m.config
	f.IntVar(&c.Machines, "agents", 0, "number of machines that make the load; each makes a share of --groups by lockbench agent, whose command run prints (default none)")
	f.BoolVar(&p.SharedKeys, "shared-keys", false, "all --agents compete for the same keys; exclusion between machines is judged by bounds on their clocks, which only Linux shows")
	f.StringVar(&c.Listen, "listen", ":0", "`[HOST]:PORT` at which --agents come, and at the next port to private servers; port 0 is any free port, no host is all of this machine's addresses")
	f.StringVar(&c.URL, "nats", "", "`URL` of a NATS server through which --agents come, or several of a cluster, separated by commas (default one that run starts)")
	tokenFlag(f, &c.Token, "secret that --agents must show (default $"+tokenVariable+", else drawn)")
	f.StringVar(&c.Certificate, "tls-cert", "", "`file` of a certificate, in PEM, by which --agents know this machine (default no TLS)")
	f.StringVar(&c.Key, "tls-key", "", "`file` of the key of --tls-cert")
}

func tokenFlag(f *pflag.FlagSet, token *string, what string) {
	f.StringVar(token, "token", os.Getenv(tokenVariable), what)
	f.Lookup("token").DefValue = "" // help must not show the one of the environment
}

// settle checks the flags, and makes a group for each machine unless --groups is given.
func (m *machineFlags) settle(f *pflag.FlagSet, o *runOptions, share runinfo.Share) error {
	c := &m.config
	if c.Machines == 0 {
		for _, name := range machineFlagNames {
			if f.Changed(name) {
				return fmt.Errorf("--%s: no agents are asked for; hint: --agents 2", name)
			}
		}
		return nil
	}
	switch {
	case c.Machines < 0:
		return fmt.Errorf("--agents %d: not a number of machines; hint: --agents 2", c.Machines)
	case !share.Whole():
		return fmt.Errorf("--agents %d and --share %v: the agents make all parts; hint: leave one of them out", c.Machines, share)
	case o.commands.given():
		return fmt.Errorf("--agents %d: an agent runs designs of the catalogue only, and neither --adapter nor --take; hint: lockbench run --share on each machine, and lockbench merge", c.Machines)
	case (c.Certificate == "") != (c.Key == ""):
		return errors.New("--tls-cert and --tls-key: one of them is missing; hint: both, or none")
	}
	if o.params.SharedKeys {
		if err := clockwatch.Check(); err != nil {
			return fmt.Errorf("--shared-keys: %w", err)
		}
	}
	if !f.Changed("groups") {
		o.params.Groups = c.Machines
	}
	if o.params.Groups < c.Machines {
		return fmt.Errorf("--agents %d and --groups %d: a machine takes whole groups; hint: --groups %[1]d or more", c.Machines, o.params.Groups)
	}
	c.Servers = o.servers
	return nil
}

// open waits for the machines of a plan. It returns nil if the plan has none.
func (m *machineFlags) open(ctx context.Context, p *runner.Plan, say func(string, ...any)) (*machines.Coordinator, error) {
	if m.config.Machines == 0 {
		return nil, nil
	}
	faults, err := fault.ParseAll(p.Faults)
	if err != nil {
		return nil, err
	}
	for i := range p.Subjects {
		of := &p.Subjects[i]
		if err := m.reach(&of.Design, p.Servers, faults); err != nil && !of.Optional {
			return nil, err
		}
		if !slices.ContainsFunc(p.Servers, servers.BackendOf(&of.Design).Serves) {
			m.config.Private = true
		}
	}
	m.config.Say = say
	c, err := machines.Open(ctx, m.config)
	if err != nil {
		return nil, err
	}
	p.Machines = c
	return c, nil
}

// reach returns the reason why the machines cannot run a design with these faults, on the addresses or on private
// servers, as far as it is known before the machines come.
func (m *machineFlags) reach(d *design.Design, addresses []string, faults []fault.Fault) error {
	b := servers.BackendOf(d)
	if slices.ContainsFunc(addresses, b.Serves) {
		for _, f := range faults {
			if fault.Of(f.Kind).Live.Needs.Has(fault.Ours) {
				return fmt.Errorf("--agents %d: fault %s would harm a server that lockbench did not start; hint: leave --server out, and all machines use a private server of this one", m.config.Machines, f.Kind)
			}
		}
		return nil
	}
	if _, remote := b.Offers().(design.Remote); !remote {
		return fmt.Errorf("--agents %d: design %s locks on %s, which other machines do not reach; hint: --server URL, of one that all machines reach", m.config.Machines, d.Name, b.Name())
	}
	if err := inject.Check(faults, slices.Repeat([]design.Service{b.Offers()}, d.ServerCount())); err != nil {
		return fmt.Errorf("--agents %d: design %s: %w", m.config.Machines, d.Name, err)
	}
	return nil
}

func newAgent() *cobra.Command {
	var a machines.Agent
	var quiet bool
	cmd := &cobra.Command{
		Use:   "agent URL",
		Short: "Make a share of the load of another machine's run",
		Long: `agent connects to a lockbench run --agents on another machine, which prints the whole command. It
makes a share of each run on the server that the run names, records it and hands the record over.
It runs nothing but designs of the catalogue, and ends with the run.

The wait for the other machine is a minute. If that machine is lost, agent ends its run, keeps its
histories and says where; lockbench merge joins them with those of the other agents.`,
		Example: `  lockbench agent nats://10.0.0.9:4222 --token 5XN3...
  LOCKBENCH_TOKEN=5XN3... lockbench agent tls://10.0.0.9:4222 --tls-ca ca.pem --history histories`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%d addresses given; hint: one, as lockbench run --agents prints it", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			a.URL = args[0]
			a.Say = sayTo(cmd.ErrOrStderr(), quiet)
			err := serveAgent(cmd.Context(), &a)
			if errors.Is(err, context.Canceled) && cmd.Context().Err() != nil {
				return verdict(exitInterrupted)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	tokenFlag(f, &a.Token, "secret that the run printed (default $"+tokenVariable+")")
	f.StringVar(&a.Authority, "tls-ca", "", "`file` of certificates, in PEM, one of which signed the run's (default those of this machine)")
	f.StringVar(&a.History, "history", "", "keep the history of each run in this `directory` (default a temporary one, removed when the run has all of them)")
	f.BoolVarP(&quiet, "quiet", "q", false, "print nothing on standard error but errors")
	return cmd
}

func sayTo(w io.Writer, quiet bool) func(string, ...any) {
	return func(format string, args ...any) {
		if !quiet {
			fmt.Fprintln(w, wrap.Fit(w, legible.Text(fmt.Sprintf(format, args...))))
		}
	}
}

// serveAgent runs an agent with a folder for its histories. It keeps a temporary one unless all went well.
func serveAgent(ctx context.Context, a *machines.Agent) error {
	if a.Token == "" {
		return errors.New("no token; hint: --token, as lockbench run --agents prints it, or $" + tokenVariable)
	}
	if a.History != "" {
		if err := os.MkdirAll(a.History, 0o755); err != nil {
			return fmt.Errorf("--history %s: %w; hint: a directory that can be made or written to", a.History, err)
		}
		return a.Serve(ctx)
	}
	dir, err := tempdir.Fresh()
	if err != nil {
		return fmt.Errorf("no place for histories: %w; hint: --history DIR", err)
	}
	a.History = dir.Path
	err = a.Serve(ctx)
	recorded, unread := filepath.Glob(dir.File("*.lbh"))
	if err == nil || len(recorded) == 0 {
		return cmp.Or(err, unread, dir.Remove())
	}
	return errors.Join(err, dir.Keep())
}
