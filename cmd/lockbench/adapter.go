package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/adapters"
	"github.com/lockbench/lockbench/impls/adapter"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/lib/legible"
	"github.com/lockbench/lockbench/internal/lib/wholefile"
	"github.com/lockbench/lockbench/internal/service/servers"
)

func newAdapter() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "adapter",
		Short: "Write, check and measure an adapter for a lock in another language",
		Long: `An adapter is a program around a lock, in any language, that answers lockbench's requests to acquire
and release. run --adapter judges the lock. docs/adapter-protocol.md describes the protocol.`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(newAdapterBench(), newAdapterCheck(), newAdapterNew())
	return cmd
}

// adapterOutputs are the kinds of output of adapter check and adapter bench.
var adapterOutputs = []outKind{jsonKind}

func newAdapterCheck() *cobra.Command {
	var out outFlags
	var server string
	cmd := &cobra.Command{
		Use:   "check [flags] -- COMMAND...",
		Short: "Ask an adapter twenty questions about the protocol and its lock",
		Long: `check starts an adapter and asks it some twenty questions: does it speak the protocol, do two keys
lock apart, is another owner refused, does a lease end, what does it answer when its server is gone, when
it is stopped and when it is killed, and does it break its lock when it is asked to. It takes some
seconds. It exits with 1 if an answer is wrong.`,
		Example: `  lockbench adapter check -- python3 my_lock.py
  lockbench adapter check --out json=- 'cd locks && exec node lock.js'`,
		Args: adapterCommand("check"),
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := out.parse(adapterOutputs)
			if err != nil {
				return err
			}
			r, err := checkAdapter(cmd.Context(), shellWords(args), server)
			if err != nil {
				return err
			}
			return r.write(cmd.OutOrStdout(), paths)
		},
	}
	cmd.Flags().StringVar(&server, "server", "", "`URL` of a server to lock on, as for run (default a private redis-server from PATH, else an embedded server)")
	out.add(cmd.Flags(), adapterOutputs)
	return cmd
}

// adapterCommand returns the check that arguments have the command of an adapter.
func adapterCommand(verb string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("no command of an adapter is named; hint: lockbench adapter %s -- python3 my_lock.py", verb)
		}
		return nil
	}
}

// shellWords returns the words of a command for a shell: a single one as it is, several each as one word.
func shellWords(args []string) string {
	if len(args) == 1 {
		return args[0]
	}
	var words []string
	for _, a := range args {
		words = append(words, "'"+strings.ReplaceAll(a, "'", `'\''`)+"'")
	}
	return strings.Join(words, " ")
}

// An adapterReport is the result of adapter check.
type adapterReport struct {
	Adapter string         `json:"adapter"`
	Hello   adapter.Hello  `json:"hello"`
	Probes  []adapterProbe `json:"probes"`
	Failed  int            `json:"failed"`
	NS      int64          `json:"ns"`
}

// An adapterProbe is an [adapter.Probe] as data: its outcome is ok, failed or skipped, and Why says
// why.
type adapterProbe struct {
	Name    string `json:"name"`
	Outcome string `json:"outcome"`
	Why     string `json:"why,omitempty"`
}

func checkAdapter(ctx context.Context, command, url string) (r adapterReport, err error) {
	var on adapterService
	defer func() { err = errors.Join(err, on.close(ctx)) }()
	began := time.Now()
	hello, probes, err := adapter.Check(ctx, command, func(b design.Backend) (design.Environment, error) { return on.open(ctx, b, url) })
	if err != nil {
		return r, err
	}
	r = adapterReport{Adapter: command, Hello: hello, NS: int64(time.Since(began) - on.opening)}
	for _, p := range probes {
		one := adapterProbe{Name: p.Name, Outcome: "ok", Why: p.Skipped}
		switch {
		case p.Err != nil:
			one.Outcome, one.Why = "failed", p.Err.Error()
			r.Failed++
		case p.Skipped != "":
			one.Outcome = "skipped"
		}
		r.Probes = append(r.Probes, one)
	}
	return r, nil
}

// An adapterService is the service of a check or a bench.
type adapterService struct {
	design.Service // nil if none was opened
	prefix         string
	opening        time.Duration
}

// open opens the service of a backend, nil for Redis, at url, which may be empty.
func (s *adapterService) open(ctx context.Context, b design.Backend, url string) (env design.Environment, err error) {
	b = servers.BackendOf(&design.Design{Backend: b})
	var addresses []string
	if url != "" {
		addresses = append(addresses, url)
		if scheme, _, _ := strings.Cut(url, "://"); b.Name() != (servers.Redis{}).Name() && !b.Serves(url) {
			return env, fmt.Errorf("server address has scheme %q, and the adapter locks on %s; hint: leave --server out for a private one", scheme, b.Name())
		}
	}
	defer func(began time.Time) { s.opening = time.Since(began) }(time.Now())
	opened, err := b.Open(ctx, addresses, 1)
	if err != nil {
		return env, err
	}
	s.Service, s.prefix = opened[0], servers.NewPrefix()
	return design.Environment{Services: []any{s.Reach()}, Prefix: s.prefix, Random: rand.Reader, Now: time.Now}, nil
}

// close removes what the adapter left, and closes the service.
func (s *adapterService) close(ctx context.Context) error {
	if s.Service == nil {
		return nil
	}
	_, unswept := s.Sweep(context.WithoutCancel(ctx), s.prefix)
	return errors.Join(unswept, s.Close())
}

// write writes the report to standard output and to files, and returns the verdict.
func (r *adapterReport) write(stdout io.Writer, out outPaths) error {
	if err := writeAdapterReport(stdout, out, r, r.text()); err != nil {
		return err
	}
	if r.Failed > 0 {
		return verdictOf(1)
	}
	return nil
}

// writeAdapterReport writes a report as JSON to its paths, and as text to standard output unless that
// has the JSON.
func writeAdapterReport(stdout io.Writer, out outPaths, r any, text string) error {
	form := func(w io.Writer) error {
		lines := json.NewEncoder(w)
		lines.SetIndent("", "  ")
		return lines.Encode(r)
	}
	printed := false
	for _, path := range out.json() {
		if path == stdoutPath {
			printed = true
			if err := form(stdout); err != nil {
				return err
			}
			continue
		}
		if err := wholefile.Write(path, form); err != nil {
			return err
		}
	}
	if !printed {
		if _, err := io.WriteString(stdout, text); err != nil {
			return err
		}
	}
	return nil
}

// describeHello describes an adapter in one line.
func describeHello(h adapter.Hello) string {
	return legible.Text(fmt.Sprintf("%s: %s %s, %s", h.Name, h.Library, h.Version, h.Runtime))
}

func (r *adapterReport) text() string {
	var b strings.Builder
	if h := r.Hello; h.Name != "" {
		fmt.Fprintf(&b, "%s\n", describeHello(h))
	}
	ok := 0
	for _, p := range r.Probes {
		line := fmt.Sprintf("  %-8s %s", p.Outcome, p.Name)
		if p.Why != "" {
			line += ": " + legible.Text(p.Why)
		}
		if p.Outcome == "ok" {
			ok++
		}
		fmt.Fprintln(&b, line)
	}
	fmt.Fprintf(&b, "%d ok, %d failed, %d skipped, in %v\n", ok, r.Failed, len(r.Probes)-ok-r.Failed, time.Duration(r.NS).Round(100*time.Millisecond))
	return b.String()
}

func newAdapterNew() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "new LANGUAGE DIR",
		Short: "Write an adapter that works, to start from",
		Long: fmt.Sprintf(`new writes an adapter that works into a folder, with the kit that speaks the protocol; put your own
lock in its place. The languages are %s.`, strings.Join(adapters.Languages(), ", ")),
		Example: "  lockbench adapter new python my-lock",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("it takes a language and a folder; hint: lockbench adapter new python my-lock")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			wrote, err := adapters.New(args[0], args[1], force)
			for _, path := range wrote {
				fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n", legible.Text(path))
			}
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "%s\n", adapters.Hint(args[0], filepath.ToSlash(args[1])))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "overwrite files that exist")
	return cmd
}
