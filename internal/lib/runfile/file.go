package runfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/lockbench/lockbench/internal/lib/suggest"
)

// A File has the settings of a run file.
type File struct {
	// Name is the name of the file in errors.
	Name string
	// Settings are its keys, in the order of the file, each once.
	Settings []Setting
}

// Read reads the text of a run file with the given keys. Its error is of type [Problems]: all
// faults or, if the text is no YAML, the position of the first syntax error.
func Read(name string, text []byte, keys []Key) (File, error) {
	r := reader{file: name, keys: keys, others: "keys are the flags of lockbench run, without their dashes"}
	f := r.settings(r.entries(text))
	return f, r.failed()
}

// settings returns the settings of one mapping; the parser has checked that its keys differ.
func (r *reader) settings(entries []*ast.MappingValueNode) File {
	f := File{Name: r.file}
	for _, entry := range entries {
		if s, ok := r.setting(entry); ok {
			f.Settings = append(f.Settings, s)
		}
	}
	return f
}

// failed returns all problems, nil for none.
func (r *reader) failed() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
	return r.problems
}

// The limits of a run file: bytes, and starts of lists. The parser's memory grows with the square
// of their depth.
const (
	maxText  = 1 << 16
	maxLists = 4000
)

// Load reads the text of a run file, unless it is too long; the name "-" is stdin.
func Load(name string, stdin io.Reader) (text []byte, err error) {
	r := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("%w; hint: lockbench init writes a run file, and --design names designs without one", err)
		}
		defer file.Close()
		r = file
	}
	if text, err = ReadAll(r); err != nil {
		return nil, fmt.Errorf("run file %s: %w", name, err)
	}
	return text, nil
}

// ReadAll reads the text of a file. It refuses a text that is too long, or has too many lists, for
// one that people write by hand.
func ReadAll(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxText {
		return nil, fmt.Errorf("it has more than %d KB; hint: check that it is the right file", maxText>>10)
	}
	lists := 0
	for _, begin := range []string{"[", "{", "- "} {
		lists += bytes.Count(text, []byte(begin))
	}
	if lists > maxLists {
		return nil, fmt.Errorf("it has more than %d lists; hint: check that it is the right file", maxLists)
	}
	return text, nil
}

// byteOrderMark is at the start of files of some editors.
var byteOrderMark = []byte("\uFEFF")

// reader collects the faults of a file while it is read.
type reader struct {
	file     string
	keys     []Key
	problems Problems
	// others names the known keys, for the error of an unknown one.
	others string
}

func (r *reader) complain(at Position, format string, args ...any) {
	r.problems = append(r.problems, Problem{File: r.file, At: at, Err: fmt.Errorf(format, args...)})
}

// entries returns the keys of the document with their values.
func (r *reader) entries(text []byte) []*ast.MappingValueNode {
	body, ok := r.document(text)
	switch {
	case !ok:
		return nil
	case body == nil:
		r.complain(Position{}, "it sets nothing; hint: lockbench init writes a run file to start from")
		return nil
	}
	return r.mapping(body)
}

// document returns the document of a text, nil if it is empty; false if it cannot be parsed.
func (r *reader) document(text []byte) (ast.Node, bool) {
	if !utf8.Valid(text) {
		r.complain(Position{}, "it is not UTF-8; hint: save it as YAML in UTF-8")
		return nil, false
	}
	parsed, err := parser.ParseBytes(bytes.TrimPrefix(text, byteOrderMark), 0)
	if err != nil {
		r.problems = append(r.problems, r.malformed(err))
		return nil, false
	}
	var bodies []ast.Node
	for _, doc := range parsed.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.NullType {
			bodies = append(bodies, doc.Body)
		}
	}
	switch len(bodies) {
	case 0:
		return nil, true
	case 1:
		return bodies[0], true
	}
	r.complain(place(bodies[1]), "a second document begins here; hint: a file is one document, without ---")
	return nil, false
}

func (r *reader) mapping(body ast.Node) []*ast.MappingValueNode {
	entries, ok := pairs(body)
	if ok && len(entries) == 0 {
		r.complain(Position{}, "it sets nothing; hint: lockbench init writes a run file to start from")
	}
	if !ok {
		r.complain(place(body), "a run file is a mapping; hint: lines of key: value, such as clients: 8")
	}
	return entries
}

// malformed returns a syntax error with its position, and without the parser's excerpt.
func (r *reader) malformed(err error) Problem {
	var syntax *yaml.SyntaxError
	if !errors.As(err, &syntax) || syntax.Token == nil {
		return Problem{File: r.file, Err: fmt.Errorf("it is not YAML: %w", err)}
	}
	return Problem{File: r.file, At: position(syntax.Token), Err: fmt.Errorf("it is not YAML: %s; hint: lines of key: value, each key once, indented by blanks", syntax.Message)}
}

// setting reads one key. It returns false if the key does not exist or its values do not fit.
func (r *reader) setting(entry *ast.MappingValueNode) (Setting, bool) {
	name, at := entry.Key.GetToken().Value, place(entry.Key)
	i := slices.IndexFunc(r.keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		r.complain(at, "unknown key %q; hint: %s", name, r.instead(name))
		return Setting{}, false
	}
	s := Setting{Key: r.keys[i], At: at}
	before := len(r.problems)
	s.Values = r.values(s.Key, entry.Value)
	for _, v := range s.Values {
		r.check(s.Key, v)
	}
	return s, len(r.problems) == before
}

// instead names the keys that a mistyped name may have meant.
func (r *reader) instead(name string) string {
	var known []string
	for _, k := range r.keys {
		known = append(known, k.Name)
	}
	if near := suggest.Near(name, known); len(near) > 0 {
		return "did you mean " + strings.Join(near, ", ") + "?"
	}
	return r.others
}

// place returns the start of a node.
func place(n ast.Node) Position {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return place(m.Values[0])
	}
	if v, ok := n.(*ast.MappingValueNode); ok {
		return position(v.Key.GetToken())
	}
	return position(n.GetToken())
}

func position(t *token.Token) Position {
	return Position{Line: t.Position.Line, Column: t.Position.Column}
}
