package main

import (
	"encoding"
	"fmt"

	"github.com/spf13/pflag"
)

// A textValue reads and writes itself as text.
type textValue interface {
	encoding.TextUnmarshaler
	fmt.Stringer
}

// newTextFlag returns the flag that sets v. kind names the value in the help of a command.
func newTextFlag(v textValue, kind string) pflag.Value { return &textFlag{v, kind} }

type textFlag struct {
	textValue
	kind string
}

// Set implements pflag.Value.
func (f *textFlag) Set(text string) error { return f.UnmarshalText([]byte(text)) }

// Type implements pflag.Value.
func (f *textFlag) Type() string { return f.kind }
