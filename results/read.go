package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Report can be written by package reports: a *[Result], *[Matrix], *[Comparison], *[LimitSearch]
// or *[MatrixComparison], or a view of one that package reports defines.
type Report interface {
	// Kind returns the name of the kind of report in JSON.
	Kind() string
}

// A fileKind is a kind of report that can be read from a file.
type fileKind struct {
	name    string
	command string        // a command that writes such a file
	empty   func() Report // returns a new report to decode into
}

var fileKinds = []fileKind{
	{"result", "lockbench run --out json=FILE", func() Report { return new(Result) }},
	{"matrix", "lockbench matrix --out json=FILE", func() Report { return new(Matrix) }},
	{"comparison", "lockbench compare --out json=FILE", func() Report { return new(Comparison) }},
	{"limit", "lockbench limit rate --out json=FILE", func() Report { return new(LimitSearch) }},
}

// Kind returns the name of the kind of report in JSON.
func (*Result) Kind() string { return "result" }

// Kind returns the name of the kind of report in JSON.
func (*Matrix) Kind() string { return "matrix" }

// Kind returns the name of the kind of report in JSON.
func (*Comparison) Kind() string { return "comparison" }

// Kind returns the name of the kind of report in JSON.
func (*LimitSearch) Kind() string { return "limit" }

// Kind returns a name for messages: such a report is not read from files.
func (*MatrixComparison) Kind() string { return "comparison of matrices" }

// kindNamed returns the kind of this name, nil if there is none.
func kindNamed(name string) *fileKind {
	i := slices.IndexFunc(fileKinds, func(k fileKind) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	return &fileKinds[i]
}

// Read reads a report of any kind that [WriteJSON] wrote: a *[Result], *[Matrix], *[Comparison] or
// *[LimitSearch]. It returns an error, with a hint, if r has anything else: another kind of file,
// another version, or a damaged report.
func Read(r io.Reader) (Report, error) {
	any := fileKind{name: "report", command: "lockbench run --out json=FILE"}
	return any.read(r)
}

// ReadAs is like [Read] for a report of one kind, and returns an error for a report of any other.
func ReadAs[T Report](r io.Reader) (T, error) {
	var none T
	want := kindNamed(none.Kind())
	if want == nil {
		return none, fmt.Errorf("a %T cannot be read back", none)
	}
	read, err := want.read(r)
	if err != nil {
		return none, err
	}
	if found, ok := read.(T); ok {
		return found, nil
	}
	return none, fmt.Errorf("it is a %s, and not a %s; hint: name a file that %s wrote", read.Kind(), want.name, want.command)
}

// A head has the first two fields of every file.
type head struct {
	Schema string `json:"schema"`
	Kind   string `json:"kind"`
}

// read reads a report of any kind. Messages of errors ask for one of kind want.
func (want *fileKind) read(r io.Reader) (Report, error) {
	text, err := readText(r)
	if err != nil {
		return nil, err
	}
	kind, err := want.check(text)
	if err != nil {
		return nil, err
	}
	found := kind.empty()
	if err := json.Unmarshal(text, found); err != nil {
		return nil, fmt.Errorf("it is damaged: %w; hint: write it again by %s", err, kind.command)
	}
	return found, nil
}

// check returns the kind of report that text is, or an error if it is not a report of this version.
func (want *fileKind) check(text []byte) (*fileKind, error) {
	var found struct {
		head
		Runs json.RawMessage `json:"runs"`
	}
	var syntax *json.SyntaxError
	err := json.Unmarshal(text, &found)
	switch {
	case errors.As(err, &syntax) && int(syntax.Offset) >= len(text):
		return nil, fmt.Errorf("it is cut short, after %d bytes; hint: write it again by %s", len(text), want.command)
	case err != nil:
		return nil, fmt.Errorf("it is no JSON %s: %w; hint: name a file that %s wrote", want.name, err, want.command)
	}
	kind := kindNamed(found.Kind)
	if found.Schema == Schema && kind != nil {
		return kind, nil
	}
	// Before version 3 the schema named the kind.
	version, ours := strings.CutPrefix(found.Schema, "lockbench/")
	if name, _, _ := strings.Cut(version, "/"); kind == nil {
		kind = kindNamed(name)
	}
	if kind == nil || !ours {
		return nil, fmt.Errorf("it says schema %q and kind %q, and a %s %q; hint: name a file that %s wrote", found.Schema, found.Kind, want.name, Schema, want.command)
	}
	again := kind.command
	if explores(found.Runs) {
		again = "lockbench explore --out json=FILE"
	}
	return nil, fmt.Errorf("it is a %s of another version, %s, and this lockbench reads %s; hint: make it anew: %s", kind.name, found.Schema, Schema, again)
}

// explores reports whether runs, of any version, are explorations.
func explores(runs json.RawMessage) bool {
	var all []struct {
		Exploration json.RawMessage `json:"exploration"`
	}
	return json.Unmarshal(runs, &all) == nil && len(all) > 0 && all[0].Exploration != nil
}
