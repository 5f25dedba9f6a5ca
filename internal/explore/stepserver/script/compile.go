package script

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// chunk is the name of a script in messages, as in Redis.
const chunk = "user_script"

// A Script is compiled source. It can be shared and run by any VM.
type Script struct {
	Source string
	// SHA is the source's SHA-1 in lower-case hex.
	SHA string
	// ReadOnly means that the script's first line declares that it does not write.
	ReadOnly bool

	proto *lua.FunctionProto
}

// compiled caches scripts by source: a lock has few scripts and sends them again and
// again. It is bounded, because a lock may write values into its source.
var compiled = struct {
	sync.Mutex
	scripts map[string]*Script
}{scripts: map[string]*Script{}}

const mostCompiled = 4096

// Compile compiles source. Its error has the text of Redis's reply. It is safe for
// concurrent use.
func Compile(source string) (*Script, error) {
	compiled.Lock()
	defer compiled.Unlock()
	if known, ok := compiled.scripts[source]; ok {
		return known, nil
	}
	s, err := compile(strings.Clone(source))
	if err != nil {
		return nil, err
	}
	if len(compiled.scripts) >= mostCompiled {
		clear(compiled.scripts)
	}
	compiled.scripts[s.Source] = s
	return s, nil
}

func compile(source string) (*Script, error) {
	s := &Script{Source: source, SHA: SHA(source)}
	body, err := s.header()
	if err != nil {
		return nil, err
	}
	tree, err := parse.Parse(strings.NewReader(body), chunk)
	if err != nil {
		return nil, complaint(err)
	}
	if s.proto, err = lua.Compile(tree, chunk); err != nil {
		return nil, complaint(err)
	}
	s.proto.IsVarArg &^= lua.VarArgNeedsArg // no table arg: Lua has none either, and it costs 2 KB a run
	return s, nil
}

// SHA is the name of a script in EVALSHA.
func SHA(source string) string {
	sum := sha1.Sum([]byte(source))
	return hex.EncodeToString(sum[:])
}

// header reads an optional first line "#!lua flags=no-writes", and returns the rest
// with unchanged line numbers.
func (s *Script) header() (body string, err error) {
	if !strings.HasPrefix(s.Source, "#!") {
		return s.Source, nil
	}
	line, rest, _ := strings.Cut(s.Source, "\n")
	fields := strings.Fields(line)
	if fields[0] != "#!lua" {
		return "", fmt.Errorf("ERR Unexpected engine in script shebang: %s", strings.TrimPrefix(fields[0], "#!"))
	}
	for _, f := range fields[1:] {
		flags, known := strings.CutPrefix(f, "flags=")
		if !known {
			return "", fmt.Errorf("ERR Unknown lua shebang option: %s", f)
		}
		s.ReadOnly = s.ReadOnly || strings.Contains(","+flags+",", ",no-writes,")
	}
	return "\n" + rest, nil
}

// complaint formats a syntax error as Redis does, except for the parser's own text.
func complaint(err error) error {
	what, line := err.Error(), 0
	var at *parse.Error
	if errors.As(err, &at) {
		what, line = fmt.Sprintf("%s near '%s'", at.Message, at.Token), at.Pos.Line
	}
	what = strings.Join(strings.Fields(what), " ")
	return fmt.Errorf("ERR Error compiling script (new function): %s:%d: %s", chunk, line, what)
}
