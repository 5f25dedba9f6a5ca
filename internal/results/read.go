package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Report can be written by package reports: a *[Result], *[Matrix], *[Comparison], *[LimitSearch] or
// *[MatrixComparison], or what package reports makes of one.
type Report interface {
	// Kind is the name of the kind of report in JSON.
	Kind() string
}

// A fileKind is a kind of report that is read back.
type fileKind struct {
	name    string
	command string        // that writes one
	empty   func() Report // to decode it into
}

var fileKinds = []fileKind{
	{"result", "lockbench run --out json=FILE", func() Report { return new(Result) }},
	{"matrix", "lockbench matrix --out json=FILE", func() Report { return new(Matrix) }},
	{"comparison", "lockbench compare --out json=FILE", func() Report { return new(Comparison) }},
	{"limit", "lockbench limit rate --out json=FILE", func() Report { return new(LimitSearch) }},
}

// Kind is the name of the kind of report in JSON.
func (*Result) Kind() string { return "result" }

// Kind is the name of the kind of report in JSON.
func (*Matrix) Kind() string { return "matrix" }

// Kind is the name of the kind of report in JSON.
func (*Comparison) Kind() string { return "comparison" }

// Kind is the name of the kind of report in JSON.
func (*LimitSearch) Kind() string { return "limit" }

// Kind is none that is read back.
func (*MatrixComparison) Kind() string { return "comparison of matrices" }

// kindNamed is the kind of that name, nil for none.
func kindNamed(name string) *fileKind {
	i := slices.IndexFunc(fileKinds, func(k fileKind) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	return &fileKinds[i]
}

// Read reads a report of any kind that [Write] wrote as JSON: a *[Result], *[Matrix],
// *[Comparison] or *[LimitSearch]. The error says how it is damaged, or what else it is.
func Read(r io.Reader) (Report, error) {
	any := fileKind{name: "report", command: "lockbench run --out json=FILE"}
	return any.read(r)
}

// ReadAs is [Read] for a report of one kind. Of another kind the error says so.
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

// A head is the beginning of every file.
type head struct {
	Schema string `json:"schema"`
	Kind   string `json:"kind"`
}

// read reads a report of whatever kind; messages are those for want.
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

// check reports what kind of report text is, or why it is none.
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

// explores reports whether these are runs of an exploration, in any version.
func explores(runs json.RawMessage) bool {
	var all []struct {
		Exploration json.RawMessage `json:"exploration"`
	}
	return json.Unmarshal(runs, &all) == nil && len(all) > 0 && all[0].Exploration != nil
}
