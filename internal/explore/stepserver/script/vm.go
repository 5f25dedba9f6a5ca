package script

import (
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// A Host executes the commands that a script calls.
type Host interface {
	// Call executes a command and returns its reply as RESP, valid until the next
	// call.
	Call(args []string) (reply []byte)
	// SetProtocol chooses the version of RESP for replies, 2 or 3.
	SetProtocol(version int)
}

// A VM runs scripts, one at a time. It is not safe for concurrent use.
type VM struct {
	state     *lua.LState
	real      *lua.LTable                 // the global table behind the one that scripts see
	protected map[*lua.LTable]*lua.LTable // read-only table -> the table that it shows
	functions map[*Script]*lua.LFunction
	handler   *lua.LFunction
	null      *lua.LUserData // cjson.null
	random    uint64
	reply     []byte // reused
	depth     int    // of the table that is being written

	// Fields of the running script.
	host Host
	sha  string
}

// New starts a VM.
func New() *VM {
	vm := &VM{
		state: lua.NewState(lua.Options{
			SkipOpenLibs: true, CallStackSize: 8192, MinimizeStackMemory: true,
			RegistrySize: 1024, RegistryMaxSize: 1 << 18,
		}),
		protected: map[*lua.LTable]*lua.LTable{},
		functions: map[*Script]*lua.LFunction{},
		null:      &lua.LUserData{},
	}
	vm.handler = vm.state.NewFunction(vm.annotate)
	vm.openLibraries()
	vm.Reset()
	return vm
}

// Reset restarts the random numbers of scripts.
func (vm *VM) Reset() { vm.random = FirstState }

// State is the state of the VM that later scripts can observe: the position of the
// random numbers.
func (vm *VM) State() uint64 { return vm.random }

// Run runs a script and returns its reply as RESP, of version 3 if resp3 is set.
// The reply is valid until the next run.
func (vm *VM) Run(s *Script, host Host, keys, args []string, resp3 bool) []byte {
	vm.host, vm.sha = host, s.SHA
	defer func() { vm.host = nil }()
	vm.real.RawSetString("KEYS", vm.list(keys))
	vm.real.RawSetString("ARGV", vm.list(args))
	l := vm.state
	l.SetTop(0)
	l.Push(vm.function(s))
	if err := l.PCall(0, 1, vm.handler); err != nil {
		return vm.failure(err)
	}
	vm.reply = vm.appendReply(vm.reply[:0], l.Get(1), resp3)
	l.SetTop(0)
	return vm.reply
}

// function makes the script callable; its environment is the read-only one.
func (vm *VM) function(s *Script) *lua.LFunction {
	f, known := vm.functions[s]
	if !known {
		if len(vm.functions) >= mostCompiled {
			clear(vm.functions)
		}
		f = vm.state.NewFunctionFromProto(s.proto)
		vm.functions[s] = f
	}
	return f
}

func (vm *VM) list(strings []string) *lua.LTable {
	t := vm.state.CreateTable(len(strings), 0)
	for _, s := range strings {
		t.Append(lua.LString(s))
	}
	return t
}

// annotate is called with a raised value at the point of the error, and adds the
// line.
func (vm *VM) annotate(l *lua.LState) int {
	raised, isTable := l.Get(1).(*lua.LTable)
	if !isTable {
		raised = l.NewTable()
		raised.RawSetString("err", lua.LString("ERR "+lua.LVAsString(l.ToStringMeta(l.Get(1)))))
	}
	if line, known := vm.line(); known {
		raised.RawSetString("source", lua.LString("@"+chunk))
		raised.RawSetString("line", lua.LNumber(line))
	}
	l.Push(raised)
	return 1
}

// line is the script's current line, seen from the handler.
func (vm *VM) line() (line int, known bool) {
	for level := 1; level <= 3; level++ {
		at, ok := vm.state.GetStack(level)
		if !ok {
			return 0, false
		}
		if _, err := vm.state.GetInfo("Sl", at, lua.LNil); err == nil && at.CurrentLine > 0 {
			return at.CurrentLine, true
		}
	}
	return 0, false
}

// failure is the reply of a script that raised an error.
func (vm *VM) failure(err error) []byte {
	what := "ERR " + err.Error()
	where := ""
	if raised, ok := object(err).(*lua.LTable); ok {
		what = lua.LVAsString(raised.RawGetString("err"))
		if line, ok := raised.RawGetString("line").(lua.LNumber); ok {
			where = ", on @" + chunk + ":" + strconv.Itoa(int(line)) + "."
		}
	}
	return appendError(nil, what+" script: "+vm.sha+where)
}

// object is the raised value.
func object(err error) lua.LValue {
	if raised, ok := err.(*lua.ApiError); ok { // it is never wrapped
		return raised.Object
	}
	return lua.LNil
}

// appendError writes an error reply, on one line.
func appendError(b []byte, text string) []byte {
	b = append(b, '-')
	b = append(b, oneLine.Replace(text)...)
	return append(b, "\r\n"...)
}

var oneLine = strings.NewReplacer("\r", " ", "\n", " ")
