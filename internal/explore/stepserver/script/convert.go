package script

import (
	"bytes"
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

// parse converts a reply for a script: nil becomes false, a status a table with
// ok, an error one with err.
func (vm *VM) parse(reply []byte) (value lua.LValue, rest []byte) {
	line, rest, ok := bytes.Cut(reply, []byte("\r\n"))
	if !ok || len(line) == 0 {
		return lua.LFalse, nil
	}
	head := line[1:]
	switch line[0] {
	case '+':
		return vm.field("ok", lua.LString(head)), rest
	case '-':
		return vm.field("err", lua.LString(head)), rest
	case ':':
		n, _ := strconv.ParseInt(string(head), 10, 64)
		return lua.LNumber(n), rest
	case '$':
		n, _ := strconv.Atoi(string(head))
		if n < 0 || len(rest) < n+2 {
			return lua.LFalse, rest
		}
		return lua.LString(rest[:n]), rest[n+2:]
	case '*', '>':
		return vm.parseArray(head, rest)
	}
	return vm.parse3(line[0], head, rest)
}

func (vm *VM) parseArray(head, rest []byte) (lua.LValue, []byte) {
	n, _ := strconv.Atoi(string(head))
	if n < 0 {
		return lua.LFalse, rest
	}
	t := vm.state.CreateTable(min(n, len(rest)), 0)
	for range n {
		if len(rest) == 0 {
			break
		}
		var v lua.LValue
		v, rest = vm.parse(rest)
		t.Append(v)
	}
	return t, rest
}

// parse3 converts the types of RESP3 for a script that asked for them.
func (vm *VM) parse3(kind byte, head, rest []byte) (lua.LValue, []byte) {
	switch kind {
	case '#':
		return lua.LBool(string(head) == "t"), rest
	case ',':
		f, _ := strconv.ParseFloat(string(head), 64)
		return vm.field("double", lua.LNumber(f)), rest
	case '_':
		return lua.LNil, rest
	case '%', '~':
		return vm.parsePairs(kind, head, rest)
	}
	return lua.LFalse, rest
}

// parsePairs reads a map, or a set as a map to true.
func (vm *VM) parsePairs(kind byte, head, rest []byte) (lua.LValue, []byte) {
	n, _ := strconv.Atoi(string(head))
	t := vm.state.CreateTable(0, min(n, len(rest)))
	for range n {
		if len(rest) == 0 {
			break
		}
		var k, v lua.LValue = nil, lua.LTrue
		k, rest = vm.parse(rest)
		if kind == '%' {
			v, rest = vm.parse(rest)
		}
		if k != lua.LNil && v != lua.LNil {
			t.RawSet(k, v)
		}
	}
	if kind == '%' {
		return vm.field("map", t), rest
	}
	return vm.field("set", t), rest
}

func (vm *VM) field(name string, value lua.LValue) *lua.LTable {
	t := vm.state.CreateTable(0, 1)
	t.RawSetString(name, value)
	return t
}

// appendReply writes a script's result: numbers are truncated to integers, false
// is nil, and a table ends at its first nil.
func (vm *VM) appendReply(b []byte, value lua.LValue, resp3 bool) []byte {
	switch v := value.(type) {
	case lua.LString:
		return appendBulk(b, string(v))
	case lua.LNumber:
		b = append(b, ':')
		b = strconv.AppendInt(b, whole(float64(v)), 10)
		return append(b, "\r\n"...)
	case lua.LBool:
		if v {
			return append(b, ":1\r\n"...)
		}
	case *lua.LTable:
		return vm.appendTable(b, v, resp3)
	}
	return appendNil(b, resp3)
}

// whole truncates f; a number out of range gives C's indefinite integer.
func whole(f float64) int64 {
	const indefinite = -1 << 63
	if f >= -indefinite || f < indefinite || f != f {
		return indefinite
	}
	return int64(f)
}

// deepestReply bounds the nesting of tables, which may contain themselves.
const deepestReply = 1000

func (vm *VM) appendTable(b []byte, t *lua.LTable, resp3 bool) []byte {
	if vm.depth++; vm.depth > deepestReply {
		vm.depth--
		return appendError(b, "ERR reached lua stack limit")
	}
	defer func() { vm.depth-- }()
	if shows, is := vm.protected[t]; is {
		t = shows
	}
	if text, ok := t.RawGetString("err").(lua.LString); ok {
		return appendError(b, string(text))
	}
	if text, ok := t.RawGetString("ok").(lua.LString); ok {
		return append(append(append(b, '+'), oneLine.Replace(string(text))...), "\r\n"...)
	}
	if f, ok := t.RawGetString("double").(lua.LNumber); ok {
		return appendDouble(b, float64(f), resp3)
	}
	if of, ok := t.RawGetString("map").(*lua.LTable); ok {
		return vm.appendPairs(b, '%', of, resp3)
	}
	if of, ok := t.RawGetString("set").(*lua.LTable); ok {
		return vm.appendPairs(b, '~', of, resp3)
	}
	return vm.appendArray(b, t, resp3)
}

func (vm *VM) appendArray(b []byte, t *lua.LTable, resp3 bool) []byte {
	n := 0
	for t.RawGetInt(n+1) != lua.LNil {
		n++
	}
	b = append(b, '*')
	b = strconv.AppendInt(b, int64(n), 10)
	b = append(b, "\r\n"...)
	for i := range n {
		b = vm.appendReply(b, t.RawGetInt(i+1), resp3)
	}
	return b
}

// appendPairs writes a map or a set, an array in RESP2.
func (vm *VM) appendPairs(b []byte, kind byte, t *lua.LTable, resp3 bool) []byte {
	n, each := 0, 1
	for range entries(t) {
		n++
	}
	if kind == '%' {
		each = 2
	}
	if resp3 {
		b = strconv.AppendInt(append(b, kind), int64(n), 10)
	} else {
		b = strconv.AppendInt(append(b, '*'), int64(n*each), 10)
	}
	b = append(b, "\r\n"...)
	for k, v := range entries(t) {
		b = vm.appendReply(b, k, resp3)
		if kind == '%' {
			b = vm.appendReply(b, v, resp3)
		}
	}
	return b
}

func appendDouble(b []byte, f float64, resp3 bool) []byte {
	if resp3 {
		return append(append(append(b, ','), argument(f)...), "\r\n"...)
	}
	return appendBulk(b, argument(f))
}

func appendBulk(b []byte, s string) []byte {
	b = append(b, '$')
	b = strconv.AppendInt(b, int64(len(s)), 10)
	b = append(b, "\r\n"...)
	b = append(b, s...)
	return append(b, "\r\n"...)
}

func appendNil(b []byte, resp3 bool) []byte {
	if resp3 {
		return append(b, "_\r\n"...)
	}
	return append(b, "$-1\r\n"...)
}
