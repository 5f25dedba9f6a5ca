package script

import (
	lua "github.com/yuin/gopher-lua"
)

// readOnly is Redis's error for an attempt to change shared tables.
const readOnly = "Attempt to modify a readonly table"

// missing are functions of Lua that scripts do not get: they write to state that
// scripts share, or to the machine.
var missing = []string{
	"dofile", "loadfile", "print", "_printregs", "getfenv", "setfenv", "module", "require", "newproxy",
	"_GOPHER_LUA_VERSION",
}

// openLibraries fills the global table and hides it behind a read-only one.
func (vm *VM) openLibraries() {
	l := vm.state
	for name, open := range map[string]lua.LGFunction{
		lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString,
		lua.MathLibName: lua.OpenMath, lua.CoroutineLibName: lua.OpenCoroutine,
	} {
		l.Push(l.NewFunction(open))
		l.Push(lua.LString(name))
		l.Call(1, 0)
	}
	vm.real = l.G.Global
	for _, name := range missing {
		vm.real.RawSetString(name, lua.LNil)
	}
	vm.replaceFunctions()
	for name, functions := range map[string]map[string]lua.LGFunction{
		"redis": vm.redisFunctions(), "cjson": vm.jsonFunctions(), "bit": bitFunctions,
	} {
		vm.real.RawSetString(name, l.SetFuncs(l.NewTable(), functions))
	}
	vm.setConstants()
	vm.protect()
}

// replaceFunctions replaces functions that differ from Redis's, or that would write
// to a read-only table.
func (vm *VM) replaceFunctions() {
	l := vm.state
	l.SetFuncs(vm.real, map[string]lua.LGFunction{
		"tonumber": toNumber, "tostring": toString, "pcall": vm.pcall(vm.original("pcall")),
		"setmetatable": vm.guarded(vm.original("setmetatable")), "rawset": vm.guarded(vm.original("rawset")),
		"rawget": vm.shown(vm.original("rawget")), "next": vm.shown(vm.original("next")),
		"pairs":          vm.pairs(),
		"collectgarbage": collectGarbage, "gcinfo": collectGarbage,
	})
	table := vm.real.RawGetString("table").(*lua.LTable)
	for _, name := range []string{"insert", "remove", "sort"} {
		original := table.RawGetString(name).(*lua.LFunction).GFunction
		table.RawSetString(name, l.NewFunction(vm.guarded(original)))
	}
	strings := vm.real.RawGetString("string").(*lua.LTable)
	format := strings.RawGetString("format").(*lua.LFunction).GFunction
	strings.RawSetString("format", l.NewFunction(checkFormat(format)))
	l.SetFuncs(vm.real.RawGetString("math").(*lua.LTable), map[string]lua.LGFunction{
		"random": vm.nextRandom, "randomseed": vm.seedRandom,
	})
}

func (vm *VM) original(name string) lua.LGFunction {
	return vm.real.RawGetString(name).(*lua.LFunction).GFunction
}

// guarded refuses a read-only table as the first argument.
func (vm *VM) guarded(f lua.LGFunction) lua.LGFunction {
	return func(l *lua.LState) int {
		if _, is := vm.protected[l.CheckTable(1)]; is {
			raise(l, "ERR "+readOnly)
		}
		return f(l)
	}
}

// shown lets f see the table behind a read-only one.
func (vm *VM) shown(f lua.LGFunction) lua.LGFunction {
	return func(l *lua.LState) int {
		if t, ok := l.Get(1).(*lua.LTable); ok {
			if shows, is := vm.protected[t]; is {
				l.Replace(1, shows)
			}
		}
		return f(l)
	}
}

// pairs passes its table to next, which sees through read-only ones.
func (vm *VM) pairs() lua.LGFunction {
	return func(l *lua.LState) int {
		t := l.CheckTable(1)
		l.Push(vm.real.RawGetString("next"))
		l.Push(t)
		l.Push(lua.LNil)
		return 3
	}
}

// pcall is Lua's, but it converts a raised table to its message, as in Redis:
// scripts written for older versions expect a string.
func (vm *VM) pcall(original lua.LGFunction) lua.LGFunction {
	return func(l *lua.LState) int {
		n := original(l)
		if n != 2 || l.Get(-2) != lua.LFalse {
			return n
		}
		if raised, ok := l.Get(-1).(*lua.LTable); ok {
			if text, ok := raised.RawGetString("err").(lua.LString); ok {
				l.Pop(1)
				l.Push(text)
			}
		}
		return n
	}
}

// collectGarbage reports some garbage, and leaves it to Go.
func collectGarbage(l *lua.LState) int {
	if l.OptString(1, "count") == "count" {
		l.Push(lua.LNumber(64))
	} else {
		l.Push(lua.LNumber(0))
	}
	return 1
}

// protect makes the libraries and the global table read-only and hides everything
// else. A script may have no global variable of its own, nor read an undefined one.
func (vm *VM) protect() {
	l := vm.state
	strings := vm.real.RawGetString("string").(*lua.LTable)
	strings.RawSetString("__index", lua.LNil)
	vm.real.ForEach(func(name, value lua.LValue) {
		if t, ok := value.(*lua.LTable); ok && t != vm.real {
			vm.real.RawSet(name, vm.readOnly(t))
		}
	})
	ofStrings := l.NewTable()
	ofStrings.RawSetString("__index", strings)
	ofStrings.RawSetString("__metatable", vm.readOnly(l.NewTable()))
	l.SetMetatable(lua.LString(""), ofStrings)

	env := vm.readOnly(vm.real)
	vm.real.RawSetString("_G", env)
	absent := l.NewTable()
	absent.RawSetString("__index", l.NewFunction(func(l *lua.LState) int {
		l.RaiseError("Script attempted to access nonexistent global variable '%s'", l.Get(2).String())
		return 0
	}))
	vm.real.Metatable = absent
	l.Env = env
}

// readOnly returns an empty table that shows t and refuses writes.
func (vm *VM) readOnly(t *lua.LTable) *lua.LTable {
	l := vm.state
	meta := l.NewTable()
	meta.RawSetString("__index", t)
	meta.RawSetString("__newindex", l.NewFunction(func(l *lua.LState) int {
		l.RaiseError(readOnly)
		return 0
	}))
	hidden := l.NewTable()
	hidden.Metatable = meta
	meta.RawSetString("__metatable", hidden)
	vm.protected[hidden] = l.NewTable()
	front := l.NewTable()
	front.Metatable = meta
	vm.protected[front] = t
	return front
}

// raise raises an error of Redis: a table with the message, not of Lua.
func raise(l *lua.LState, text string) {
	l.Error(failed(l, text), 1)
}

// failed is the table for an error.
func failed(l *lua.LState, text string) *lua.LTable {
	t := l.CreateTable(0, 1)
	t.RawSetString("err", lua.LString(text))
	return t
}
