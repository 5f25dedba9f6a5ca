package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/adapter"
	"github.com/lockbench/lockbench/impls/commands"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/results"
)

// commandFlags are the flags of locks of the user's own, given by Redis commands or by an adapter.
type commandFlags struct {
	adapters []string
	waits    string
	stamps   string
	texts    commands.Texts
	design   *design.Design // the lock, once with has parsed it; nil for none
}

func (o *commandFlags) add(f *pflag.FlagSet) {
	t := &o.texts
	f.Var(newTextFlag((*once)(&t.Take), "string"), "take", "Redis `commands` that take a lock of your own, such as 'SET {key} {token} NX PX {ttl_ms}'; several by semicolons; {key}, {token}, {ttl_ms}, {ttl_s} and {now_ms} get values, @FILE is the content of a file, => REPLY tells the reply that says yes, by default any but nil, zero and nothing")
	f.Var(newTextFlag((*once)(&t.Free), "string"), "free", "`commands` that free that lock, such as 'EVAL @free.lua 1 {key} {token}'")
	f.Var(newTextFlag((*once)(&t.Extend), "string"), "extend", "`commands` that extend its lease (default it cannot be extended)")
}

// addAdapter adds the flag of locks in other languages.
func (o *commandFlags) addAdapter(f *pflag.FlagSet) {
	f.StringArrayVar(&o.adapters, "adapter", nil, "`command` that starts an adapter: a program around a lock of your own, in any language, that speaks the adapter protocol, such as 'python3 my_lock.py'; repeated for several")
}

const (
	waitsLibrary  = "library" // the value of --waits by which the libraries of adapters wait
	stampsAdapter = "adapter" // the value of --stamps by which adapters time the calls
)

// addSettings adds the flags of adapters.
func (o *commandFlags) addSettings(f *pflag.FlagSet) {
	f.StringVar(&o.waits, "waits", "driver", "who waits for a held lock of an --adapter: driver, which asks again every 10ms, or library, by code of its own")
	f.StringVar(&o.stamps, "stamps", "driver", "which clock times the calls of an --adapter: driver, from before a request is written until its answer is read, or adapter, around the call of the library (on Linux)")
}

// checkSettings returns an error for a --waits or --stamps that is unknown or has no effect.
func (o *commandFlags) checkSettings() error {
	switch {
	case o.stamps == stampsAdapter && len(o.adapters) == 0:
		return fmt.Errorf("--stamps %s: no adapter is given; hint: --adapter 'python3 my_lock.py'", o.stamps)
	case !slices.Contains([]string{"", "driver", stampsAdapter}, o.stamps):
		return fmt.Errorf("--stamps %q: unknown; hint: driver or %s", o.stamps, stampsAdapter)
	case o.waits == waitsLibrary && len(o.adapters) == 0:
		return fmt.Errorf("--waits %s: no adapter is given, and other locks wait by themselves; hint: --adapter 'python3 my_lock.py'", o.waits)
	case !slices.Contains([]string{"", "driver", waitsLibrary}, o.waits):
		return fmt.Errorf("--waits %q: unknown; hint: driver or %s", o.waits, waitsLibrary)
	}
	return nil
}

// A once is a text that may be given once, since a second one would replace the first.
type once string

// String returns the text.
func (o *once) String() string { return string(*o) }

// UnmarshalText sets the text.
func (o *once) UnmarshalText(text []byte) error {
	if *o != "" {
		return fmt.Errorf("given twice, first as %q; hint: one text has all commands, separated by semicolons", *o)
	}
	*o = once(text)
	return nil
}

// given reports whether the flags give a lock.
func (o *commandFlags) given() bool { return o.texts != commands.Texts{} || len(o.adapters) > 0 }

// with returns the designs and the locks of the flags, or these locks alone if the user named no
// designs. Without these flags it returns the designs.
func (o *commandFlags) with(ctx context.Context, designs []design.Design, named bool) ([]design.Design, error) {
	if !named && o.given() {
		designs = nil
	}
	adapted, err := o.adapted(ctx)
	if err != nil {
		return nil, err
	}
	return o.withCommands(append(designs, adapted...))
}

// adapted returns the locks of the adapters. It adds the version to the names of those that say the
// same one.
func (o *commandFlags) adapted(ctx context.Context) ([]design.Design, error) {
	if err := o.checkSettings(); err != nil {
		return nil, err
	}
	var all []design.Design
	same := make(map[string]int)
	for _, command := range o.adapters {
		d, err := adapter.Design(ctx, command)
		if err != nil {
			return nil, err
		}
		if slices.Contains(impls.Names(), d.Name) {
			return nil, fmt.Errorf("--adapter %q: its name, %s, is that of a design of lockbench, of which other things are known; hint: its hello says the name", command, d.Name)
		}
		if set := (adapter.Settings{Waits: o.waits == waitsLibrary, Stamps: o.stamps == stampsAdapter}); set != (adapter.Settings{}) {
			if d, err = adapter.With(d, set); err != nil {
				return nil, err
			}
		}
		all = append(all, d)
		same[d.Name]++
	}
	for i := range all {
		d := &all[i]
		if version := libraryVersion(d); same[d.Name] > 1 && version != "" {
			d.Name += "-" + version
		}
		if slices.ContainsFunc(all[:i], func(other design.Design) bool { return other.Name == d.Name }) {
			return nil, fmt.Errorf("--adapter %q: another adapter says the same name and version, %s; hint: change the name, or the library and version, in its hello", o.adapters[i], d.Name)
		}
	}
	return all, nil
}

// libraryVersion returns the version of the library of a design in the characters of a name; empty if
// the design has none.
func libraryVersion(d *design.Design) string {
	at := strings.LastIndex(d.Library, "@")
	if at <= 0 { // an @ at the start is part of the library's name
		return ""
	}
	return strings.ToLower(results.FileName(d.Library[at+1:]))
}

// withCommands returns the designs and the lock of the commands, if there is one.
func (o *commandFlags) withCommands(designs []design.Design) ([]design.Design, error) {
	t := &o.texts
	switch {
	case *t == commands.Texts{}:
		return designs, nil
	case t.Take == "":
		return nil, fmt.Errorf("--take is missing; hint: the commands that take the lock, such as --take 'SET {key} {token} NX PX {ttl_ms}'")
	case t.Free == "":
		return nil, fmt.Errorf("--free is missing; hint: the commands that free the lock, such as --free 'DEL {key}'")
	}
	l, err := t.Parse()
	if err != nil {
		return nil, err
	}
	d := l.Design()
	o.design = &d
	return append(designs, d), nil
}

// trialLease is the lease of a trial, longer than any trial lasts.
const trialLease = time.Minute

// try takes, extends and frees the lock of the flags once, with a key that nobody else uses. It returns
// an error if a text fails or says no: the text is wrong then, and any verdict would be about another
// lock than the one meant. start returns the server, of the kind that the lock will be judged on.
// Without these flags try does nothing.
func (o *commandFlags) try(ctx context.Context, start func(context.Context) (*servers.Server, error)) (err error) {
	if o.design == nil {
		return nil
	}
	server, err := start(ctx)
	if err != nil {
		return err
	}
	prefix := servers.NewPrefix()
	p, err := o.design.Open(design.Environment{Services: []any{server.Reach()}, Prefix: prefix, Host: "trial", PID: 1, Now: time.Now, Random: rand.Reader, Pool: 1})
	if err == nil {
		err = errors.Join(tryTexts(ctx, &o.texts, p.Locker(design.Blind)), p.Close())
		_, unswept := server.Sweep(ctx, prefix)
		err = errors.Join(err, unswept)
	}
	return errors.Join(err, server.Close())
}

func tryTexts(ctx context.Context, t *commands.Texts, owner lockbench.Locker) error {
	lease, err := owner.Acquire(ctx, "trial", lockbench.Options{TTL: trialLease})
	if err != nil {
		return wrongText("take", t.Take, err)
	}
	if e, can := lease.(lockbench.Extender); can {
		if err := e.Extend(ctx, trialLease); err != nil {
			return wrongText("extend", t.Extend, err)
		}
	}
	if err := lease.Release(ctx); err != nil {
		return wrongText("free", t.Free, err)
	}
	return nil
}

// wrongText returns the error for a text that failed, or said no, though nobody else had the key.
func wrongText(name, text string, err error) error {
	if errors.Is(err, lockbench.ErrNotAcquired) || errors.Is(err, lockbench.ErrNotHeld) {
		return fmt.Errorf("--%s %q: says no, though nobody else has the key; hint: => REPLY after a command tells the reply that says yes", name, text)
	}
	return fmt.Errorf("--%s %q: %w; hint: try the commands in redis-cli", name, text, err)
}
