package script

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// version is the Redis version that scripts see.
const version = "7.0.15"

// setConstants adds the members that are not functions.
func (vm *VM) setConstants() {
	redis := vm.real.RawGetString("redis").(*lua.LTable)
	for name, value := range map[string]lua.LValue{
		"LOG_DEBUG": lua.LNumber(0), "LOG_VERBOSE": lua.LNumber(1), "LOG_NOTICE": lua.LNumber(2), "LOG_WARNING": lua.LNumber(3),
		"REPL_NONE": lua.LNumber(0), "REPL_AOF": lua.LNumber(1), "REPL_SLAVE": lua.LNumber(2), "REPL_REPLICA": lua.LNumber(2),
		"REPL_ALL": lua.LNumber(3), "REDIS_VERSION": lua.LString(version), "REDIS_VERSION_NUM": lua.LNumber(0x7000f),
	} {
		redis.RawSetString(name, value)
	}
	vm.real.RawSetString("server", redis) // its name in Valkey
	vm.real.RawGetString("cjson").(*lua.LTable).RawSetString("null", vm.null)
	vm.real.RawGetString("math").(*lua.LTable).RawSetString("huge", infinity)
}

func (vm *VM) redisFunctions() map[string]lua.LGFunction {
	return map[string]lua.LGFunction{
		"call": func(l *lua.LState) int { return vm.call(l, raise) },
		"pcall": func(l *lua.LState) int {
			return vm.call(l, func(l *lua.LState, text string) { l.Push(failed(l, text)) })
		},
		"sha1hex": func(l *lua.LState) int {
			if l.GetTop() != 1 {
				raise(l, "ERR wrong number of arguments")
			}
			l.Push(lua.LString(SHA(lua.LVAsString(l.Get(1)))))
			return 1
		},
		"error_reply":  func(l *lua.LState) int { return single(l, "err", errorText) },
		"status_reply": func(l *lua.LState) int { return single(l, "ok", func(s string) string { return s }) },
		"log":          logMessage,
		"setresp":      vm.setProtocol,
		"set_repl":     setReplication,
		"replicate_commands": func(l *lua.LState) int {
			l.Push(lua.LTrue)
			return 1
		},
		"breakpoint":    func(l *lua.LState) int { l.Push(lua.LFalse); return 1 },
		"debug":         func(*lua.LState) int { return 0 },
		"acl_check_cmd": func(l *lua.LState) int { l.Push(lua.LTrue); return 1 },
	}
}

// call executes a command; it passes its error, or the call's, to fail.
func (vm *VM) call(l *lua.LState, fail func(*lua.LState, string)) int {
	args, wrong := arguments(l)
	if wrong != "" {
		fail(l, wrong)
		return 1
	}
	reply := vm.host.Call(args)
	if len(reply) > 0 && reply[0] == '-' {
		fail(l, commandError(strings.TrimSuffix(string(reply[1:]), "\r\n")))
		return 1
	}
	value, _ := vm.parse(reply)
	l.Push(value)
	return 1
}

// arguments are the arguments of a call, with numbers in Redis's format.
func arguments(l *lua.LState) (args []string, wrong string) {
	n := l.GetTop()
	if n == 0 {
		return nil, "ERR Please specify at least one argument for this redis lib call"
	}
	args = make([]string, n)
	for i := range args {
		switch a := l.Get(i + 1).(type) {
		case lua.LString:
			args[i] = string(a)
		case lua.LNumber:
			args[i] = argument(float64(a))
		default:
			return nil, "ERR Lua redis lib command arguments must be strings or integers"
		}
	}
	return args, ""
}

// commandError words an error of the server as scripts are told it.
func commandError(text string) string {
	switch {
	case strings.HasPrefix(text, "ERR unknown command"):
		return "ERR Unknown Redis command called from script"
	case strings.HasPrefix(text, "ERR wrong number of arguments for"):
		return "ERR Wrong number of args calling Redis command from script"
	}
	return text
}

// single makes a table of one field from one string.
func single(l *lua.LState, field string, text func(string) string) int {
	s, ok := l.Get(1).(lua.LString)
	if !ok || l.GetTop() != 1 {
		l.Push(failed(l, "ERR wrong number or type of arguments"))
		return 1
	}
	t := l.CreateTable(0, 1)
	t.RawSetString(field, lua.LString(text(string(s))))
	l.Push(t)
	return 1
}

// errorText adds a code to a message without one.
func errorText(s string) string {
	s = strings.TrimPrefix(s, "-")
	if !strings.Contains(s, " ") {
		return "ERR " + s
	}
	return s
}

// logMessage checks its arguments and logs nothing.
func logMessage(l *lua.LState) int {
	level, isNumber := l.Get(1).(lua.LNumber)
	switch {
	case l.GetTop() < 2:
		raise(l, "ERR redis.log() requires two arguments or more.")
	case !isNumber:
		raise(l, "ERR First argument must be a number (log level).")
	case level < 0 || level > 3:
		raise(l, "ERR Invalid debug level.")
	}
	return 0
}

func (vm *VM) setProtocol(l *lua.LState) int {
	version, _ := l.Get(1).(lua.LNumber)
	switch {
	case l.GetTop() != 1:
		raise(l, "ERR redis.setresp() requires one argument.")
	case version != 2 && version != 3:
		raise(l, "ERR RESP version must be 2 or 3.")
	}
	vm.host.SetProtocol(int(version))
	return 0
}

// setReplication checks its argument; there are no replicas.
func setReplication(l *lua.LState) int {
	flags, _ := l.Get(1).(lua.LNumber)
	switch {
	case l.GetTop() != 1:
		raise(l, "ERR redis.set_repl() requires one argument.")
	case flags < 0 || flags > 3:
		raise(l, "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.")
	}
	return 0
}
