// Package textflag makes a value that reads and writes itself as text one for command-line
// flags.
package textflag

import (
	"encoding"
	"fmt"

	"github.com/spf13/pflag"
)

// A Text is a value that reads and writes itself as text.
type Text interface {
	encoding.TextUnmarshaler
	fmt.Stringer
}

// New returns the flag that sets v. In a command's help, kind stands for its value.
func New(v Text, kind string) pflag.Value { return &flag{v, kind} }

type flag struct {
	Text
	kind string
}

// Set implements pflag.Value.
func (f *flag) Set(text string) error { return f.UnmarshalText([]byte(text)) }

// Type implements pflag.Value.
func (f *flag) Type() string { return f.kind }
