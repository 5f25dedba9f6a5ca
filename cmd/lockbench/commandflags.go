package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/impls/commands"
	"github.com/lockbench/lockbench/impls/design"
)

// commandFlags are the flags of a lock that is given by its Redis commands.
type commandFlags struct{ texts commands.Texts }

func (o *commandFlags) add(f *pflag.FlagSet) {
	t := &o.texts
	f.StringVar(&t.Take, "take", "", "Redis `commands` that take a lock of your own, such as 'SET {key} {token} NX PX {ttl_ms}'; several by semicolons; {key}, {token}, {ttl_ms}, {ttl_s} and {now_ms} get values, @FILE is the content of a file, => REPLY tells the reply that says yes, by default any but nil, zero and nothing")
	f.StringVar(&t.Free, "free", "", "`commands` that free that lock, such as 'EVAL @free.lua 1 {key} {token}'")
	f.StringVar(&t.Extend, "extend", "", "`commands` that extend its lease (default it cannot be extended)")
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
	if err != nil {
		return nil, err
	}
	if !named {
		designs = nil
	}
	return append(designs, l.Design()), l.Export()
}
