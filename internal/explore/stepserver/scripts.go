package stepserver

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lockbench/lockbench/internal/explore/stepserver/script"
)

// scripts has the script cache, and the virtual machine that runs scripts.
type scripts struct {
	cached   map[string]*cachedScript // by SHA
	resident []*cachedScript          // those that Reset keeps
	vm       *script.VM               // started on first use
	host     scriptHost               // reused
}

// cachedScript is a script in the cache.
type cachedScript struct {
	*script.Script
	names []string // the names that calling it reads, as in Effect
}

// vms keeps the virtual machines of closed servers for new ones.
var vms = sync.Pool{New: func() any { return script.New() }}

func (s *scripts) machine() *script.VM {
	if s.vm == nil {
		s.vm = vms.Get().(*script.VM)
		s.vm.Reset()
	}
	return s.vm
}

// reset forgets all scripts except the kept ones.
func (s *scripts) reset() {
	clear(s.cached)
	for _, k := range s.resident {
		s.cached[k.SHA] = k
	}
	if s.vm != nil {
		s.vm.Reset()
	}
}

func (s *scripts) close() {
	if s.vm != nil {
		vms.Put(s.vm)
		s.vm = nil
	}
}

// KeepScripts makes Reset keep the scripts that the server has now, like a server that has been in
// use for a while. Otherwise Reset forgets all scripts.
func (s *Server) KeepScripts() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts.resident = s.scripts.resident[:0]
	for _, k := range s.scripts.cached {
		s.scripts.resident = append(s.scripts.resident, k)
	}
}

// eval executes EVAL, EVALSHA and their read-only forms.
func (s *Server) eval(c *conn, q *Command, e *Effect) []byte {
	if len(q.Args) < 3 {
		return wrongNumber(q.spec.name)
	}
	var code *script.Script
	var refused string
	if strings.HasPrefix(q.spec.name, "EVALSHA") {
		code, refused = s.scripts.find(q.Args[1], e)
	} else {
		code, refused = s.scripts.add(q.Args[1], e)
	}
	if refused != "" {
		return []byte("-" + refused + "\r\n")
	}
	keys, args, refused := keysAndArgs(q.Args[2], q.Args[3:])
	if refused != "" {
		return []byte("-" + refused + "\r\n")
	}
	h := &s.scripts.host
	*h = scriptHost{server: s, conn: c, effect: e, db: c.db, readOnly: code.ReadOnly || strings.HasSuffix(q.spec.name, "_RO")}
	defer h.done()
	return s.scripts.machine().Run(code, h, keys, args, c.peer.Resp3)
}

// find returns the script with this SHA.
func (s *scripts) find(sha string, e *Effect) (*script.Script, string) {
	sha = strings.ToLower(sha)
	if code, known := s.cached[sha]; known {
		e.reads(code.names...)
		return code.Script, ""
	}
	e.reads(scriptCache, scriptName(sha))
	return nil, "NOSCRIPT No matching script. Please use EVAL."
}

// add compiles a script and adds it to the cache, as Redis does before it runs one.
func (s *scripts) add(source string, e *Effect) (*script.Script, string) {
	code, err := script.Compile(source)
	if err != nil {
		return nil, strings.NewReplacer("\r", " ", "\n", " ").Replace(err.Error())
	}
	if k, is := s.cached[code.SHA]; is {
		e.reads(k.names...)
		return code, ""
	}
	k := &cachedScript{code, []string{scriptCache, scriptName(code.SHA)}}
	s.cached[code.SHA] = k
	e.reads(k.names...)
	e.writes(k.names[1])
	return code, ""
}

func keysAndArgs(count string, rest []string) (keys, args []string, refused string) {
	n, err := strconv.Atoi(count)
	switch {
	case err != nil:
		return nil, nil, "ERR value is not an integer or out of range"
	case n < 0:
		return nil, nil, "ERR Number of keys can't be negative"
	case n > len(rest):
		return nil, nil, "ERR Number of keys can't be greater than number of args"
	}
	return rest[:n], rest[n:], ""
}

// script executes SCRIPT.
func (s *Server) script(args []string, e *Effect) []byte {
	verb := ""
	if len(args) > 1 {
		verb = strings.ToLower(args[1])
	}
	switch {
	case verb == "load" && len(args) == 3:
		code, refused := s.scripts.add(args[2], e)
		if refused != "" {
			return []byte("-" + refused + "\r\n")
		}
		return appendBulk(nil, code.SHA)
	case verb == "exists" && len(args) > 2:
		return s.scripts.exist(args[2:], e)
	case verb == "flush" && (len(args) == 2 || len(args) == 3 && isFlushMode(args[2])):
		e.writes(scriptCache)
		clear(s.scripts.cached)
		return []byte(replyOK)
	case verb == "flush":
		return []byte("-ERR SCRIPT FLUSH only support SYNC|ASYNC option\r\n")
	case verb == "kill" && len(args) == 2:
		return []byte("-NOTBUSY No scripts in execution right now.\r\n")
	case verb == "":
		return wrongNumber("script")
	case slices.Contains([]string{"load", "exists", "kill"}, verb):
		return wrongNumber("script|" + verb)
	}
	return []byte("-ERR unknown subcommand '" + args[1] + "'. Try SCRIPT HELP.\r\n")
}

func isFlushMode(arg string) bool {
	return strings.EqualFold(arg, "sync") || strings.EqualFold(arg, "async")
}

func (s *scripts) exist(shas []string, e *Effect) []byte {
	e.reads(scriptCache)
	reply := appendLen(nil, '*', len(shas))
	for _, sha := range shas {
		sha = strings.ToLower(sha)
		e.reads(scriptName(sha))
		n := 0
		if _, known := s.cached[sha]; known {
			n = 1
		}
		reply = appendInt(reply, n)
	}
	return reply
}

func wrongNumber(command string) []byte {
	return []byte("-ERR wrong number of arguments for '" + strings.ToLower(command) + "' command\r\n")
}

// A scriptHost executes the commands that one run of a script calls. It has a selected database of
// its own.
type scriptHost struct {
	server   *Server
	conn     *conn
	effect   *Effect
	db       int
	readOnly bool
}

// Call executes one command of the script.
func (h *scriptHost) Call(args []string) []byte {
	s, spec := h.server, specOf(args)
	if refused := h.refusal(spec, args); refused != "" {
		return []byte("-" + refused + "\r\n")
	}
	if spec.route == messages {
		return s.message(h.conn, args, h.effect)
	}
	reply := s.redis.nested(h.db, spec, args)
	if spec.name == "SELECT" && string(reply) == replyOK {
		h.db, _ = strconv.Atoi(args[1])
		s.redis.nestedAt(h.db)
	}
	s.note(spec, h.db, args, string(reply), h.effect)
	return reply
}

// refusal returns the reason why a script may not call a command.
func (h *scriptHost) refusal(spec *spec, args []string) string {
	switch {
	case !spec.script:
		return "ERR This Redis command is not allowed from script"
	case spec.route == blocks && slices.ContainsFunc(args, func(a string) bool { return strings.EqualFold(a, "block") }):
		return "ERR " + strings.ToLower(spec.name) + " command is not allowed with BLOCK option from scripts"
	case h.readOnly && (spec.dest != 0 || spec.name == "PUBLISH"):
		return "ERR Write commands are not allowed from read-only scripts."
	}
	return ""
}

// SetProtocol chooses the format of replies to the script.
func (h *scriptHost) SetProtocol(version int) { h.server.redis.inner.Resp3 = version == 3 }

func (h *scriptHost) done() { h.server.redis.inner.Resp3 = false }
