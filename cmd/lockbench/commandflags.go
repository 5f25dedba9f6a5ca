package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/commands"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// commandFlags are the flags of a lock that is given by its Redis commands.
type commandFlags struct{ texts commands.Texts }

func (o *commandFlags) add(f *pflag.FlagSet) {
	t := &o.texts
	f.Var((*once)(&t.Take), "take", "Redis `commands` that take a lock of your own, such as 'SET {key} {token} NX PX {ttl_ms}'; several by semicolons; {key}, {token}, {ttl_ms}, {ttl_s} and {now_ms} get values, @FILE is the content of a file, => REPLY tells the reply that says yes, by default any but nil, zero and nothing")
	f.Var((*once)(&t.Free), "free", "`commands` that free that lock, such as 'EVAL @free.lua 1 {key} {token}'")
	f.Var((*once)(&t.Extend), "extend", "`commands` that extend its lease (default it cannot be extended)")
}

// A once is the value of a flag that may be given once: a second text would replace the first.
type once string

// String returns the value.
func (o *once) String() string { return string(*o) }

// Type returns the name of the type in help.
func (o *once) Type() string { return "string" }

// Set sets the value.
func (o *once) Set(text string) error {
	if *o != "" && text != string(*o) {
		return fmt.Errorf("given twice, first as %q; hint: one text has all commands, separated by semicolons", string(*o))
	}
	*o = once(text)
	return nil
}

// with returns the designs and the lock of the flags, or the lock alone if the user named no designs.
// Child processes know the lock then, too. Without these flags it returns the designs.
func (o *commandFlags) with(designs []design.Design, named bool) ([]design.Design, error) {
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
	if err == nil {
		err = tried(t, l.Design())
	}
	if err != nil {
		return nil, err
	}
	if !named {
		designs = nil
	}
	return append(designs, l.Design()), l.Export()
}

// trialLease is the lease of a trial, longer than any trial lasts.
const trialLease = time.Hour

// tried returns an error if a lock of these texts cannot be taken, extended and freed once, on a server
// of its own that nobody else uses: the texts are wrong then, and whatever is judged is another lock than
// the one meant. Commands that this server does not know may be another server's.
func tried(t *commands.Texts, d design.Design) error {
	server, err := servers.StartEmbedded()
	if err != nil {
		return err
	}
	defer server.Close()
	p, err := d.Open(design.Environment{Services: []any{server.Reach()}, Host: "trial", PID: 1, Now: time.Now, Random: rand.Reader, Pool: 1})
	if err != nil {
		return err
	}
	defer p.Close()
	ctx := context.Background()
	lease, err := p.Locker(design.Blind).Acquire(ctx, "trial", lockbench.Options{TTL: trialLease})
	if err != nil {
		return wrongText("take", t.Take, err, errors.Is(err, lockbench.ErrNotAcquired))
	}
	if e, can := lease.(lockbench.Extender); can {
		if err := e.Extend(ctx, trialLease); err != nil {
			return wrongText("extend", t.Extend, err, errors.Is(err, lockbench.ErrNotHeld))
		}
	}
	if err := lease.Release(ctx); err != nil {
		return wrongText("free", t.Free, err, errors.Is(err, lockbench.ErrNotHeld))
	}
	return nil
}

// wrongText returns the error for a text that failed on an idle server, or said no there; nil if the
// server does not know its commands.
func wrongText(name, text string, err error, no bool) error {
	switch {
	case no:
		return fmt.Errorf("--%s %q: says no on an idle server, where nobody else has the key; hint: => REPLY after a command tells the reply that says yes", name, text)
	case strings.Contains(err.Error(), "unknown command"):
		return nil
	}
	return fmt.Errorf("--%s %q: %w; hint: try the commands in redis-cli", name, text, err)
}
