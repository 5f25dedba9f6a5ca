package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// Settings of lua-cjson in Redis.
const (
	deepest    = 1000
	sparseness = 2  // an array may be this many times longer than its number of items,
	alwaysFine = 10 // or this long
)

// A message is an error in the words of lua-cjson.
type message string

func (m message) Error() string { return string(m) }

func (vm *VM) jsonFunctions() map[string]lua.LGFunction {
	return map[string]lua.LGFunction{"encode": vm.jsonEncode, "decode": vm.jsonDecode}
}

func (vm *VM) jsonEncode(l *lua.LState) int {
	if l.GetTop() != 1 {
		l.ArgError(1, "expected 1 argument")
	}
	b, err := vm.encode(nil, l.Get(1), 1)
	if err != nil {
		l.RaiseError("%s", err.Error())
	}
	l.Push(lua.LString(b))
	return 1
}

func (vm *VM) encode(b []byte, value lua.LValue, depth int) ([]byte, error) {
	if depth > deepest {
		return nil, message(fmt.Sprintf("Cannot serialise, excessive depth (%d)", depth))
	}
	switch v := value.(type) {
	case lua.LString:
		return appendQuoted(b, string(v)), nil
	case lua.LNumber:
		f := float64(v)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, message("Cannot serialise number: must not be NaN or Inf")
		}
		return append(b, text(f)...), nil
	case lua.LBool:
		return fmt.Appendf(b, "%t", bool(v)), nil
	case *lua.LNilType:
		return append(b, "null"...), nil
	case *lua.LUserData:
		if v == vm.null {
			return append(b, "null"...), nil
		}
	case *lua.LTable:
		return vm.encodeTable(b, v, depth)
	}
	return nil, message(fmt.Sprintf("Cannot serialise %s: type not supported", value.Type()))
}

func (vm *VM) encodeTable(b []byte, t *lua.LTable, depth int) ([]byte, error) {
	length, isArray, err := arrayLength(t)
	if err != nil {
		return nil, err
	}
	if !isArray {
		return vm.encodeObject(b, t, depth)
	}
	b = append(b, '[')
	for i := range length {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = vm.encode(b, t.RawGetInt(i+1), depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// arrayLength finds the highest index of a table that has nothing but indices.
func arrayLength(t *lua.LTable) (length int, isArray bool, err error) {
	items := 0
	for k := range entries(t) {
		n, ok := k.(lua.LNumber)
		if !ok || n < 1 || float64(n) != math.Floor(float64(n)) {
			return 0, false, nil
		}
		items++
		length = max(length, int(n))
	}
	if items == 0 {
		return 0, false, nil
	}
	if length > items*sparseness && length > alwaysFine {
		return 0, false, message("Cannot serialise table: excessively sparse array")
	}
	return length, true, nil
}

func (vm *VM) encodeObject(b []byte, t *lua.LTable, depth int) (_ []byte, err error) {
	b = append(b, '{')
	first := true
	for k, v := range entries(t) {
		if !first {
			b = append(b, ',')
		}
		first = false
		switch key := k.(type) {
		case lua.LString:
			b = appendQuoted(b, string(key))
		case lua.LNumber:
			b = appendQuoted(b, text(float64(key)))
		default:
			return nil, message("Cannot serialise table: table key must be a number or string")
		}
		if b, err = vm.encode(append(b, ':'), v, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// entries goes through a table in the order of pairs; ForEach has none.
func entries(t *lua.LTable) iter.Seq2[lua.LValue, lua.LValue] {
	return func(yield func(k, v lua.LValue) bool) {
		for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
			if !yield(k, v) {
				return
			}
		}
	}
}

// appendQuoted writes a string; bytes that are no UTF-8 stay as they are.
func appendQuoted(b []byte, s string) []byte {
	const short = "\b\t\n\f\r\"\\/"
	b = append(b, '"')
	for i := range len(s) {
		c := s[i]
		if at := strings.IndexByte(short, c); at >= 0 {
			b = append(b, '\\', "btnfr\"\\/"[at])
		} else if c < ' ' || c == 0x7f {
			b = fmt.Appendf(b, "\\u%04x", c)
		} else {
			b = append(b, c)
		}
	}
	return append(b, '"')
}

func (vm *VM) jsonDecode(l *lua.LState) int {
	if l.GetTop() != 1 {
		l.ArgError(1, "expected 1 argument")
	}
	d := json.NewDecoder(strings.NewReader(l.CheckString(1)))
	d.UseNumber()
	value, err := vm.decode(d)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("trailing text")
		}
	}
	if err != nil {
		l.RaiseError("Expected value but found invalid token at character %d", d.InputOffset()+1)
	}
	l.Push(value)
	return 1
}

// decode reads one value, an object's fields in their order.
func (vm *VM) decode(d *json.Decoder) (lua.LValue, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case json.Delim:
		return vm.decodeTable(d, v)
	case json.Number:
		f, err := v.Float64()
		return lua.LNumber(f), err
	case string:
		return lua.LString(v), nil
	case bool:
		return lua.LBool(v), nil
	}
	return vm.null, nil
}

func (vm *VM) decodeTable(d *json.Decoder, open json.Delim) (lua.LValue, error) {
	t := vm.state.NewTable()
	for i := 1; d.More(); i++ {
		key := lua.LValue(lua.LNumber(i))
		if open == '{' {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			key = lua.LString(name.(string))
		}
		value, err := vm.decode(d)
		if err != nil {
			return nil, err
		}
		t.RawSet(key, value)
	}
	_, err := d.Token()
	return t, err
}
