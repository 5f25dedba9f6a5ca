package script

import (
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

var infinity = lua.LNumber(math.Inf(1))

// argument formats a number as redis.call sends it: with 17 digits, C's %.17g.
func argument(f float64) string { return number(f, 17) }

// text formats a number as Lua does: with 14 digits, C's %.14g.
func text(f float64) string { return number(f, 14) }

func number(f float64, digits int) string {
	switch {
	case f == math.Trunc(f) && math.Abs(f) < 1e14 && (f != 0 || !math.Signbit(f)):
		return strconv.FormatInt(int64(f), 10)
	case math.IsNaN(f):
		return "-nan"
	case math.IsInf(f, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"))
	}
	return trim(strconv.FormatFloat(f, 'g', digits, 64))
}

// trim removes text that C's %g does not print: zeros at the end of a fraction.
func trim(s string) string {
	mantissa, exponent, has := strings.Cut(s, "e")
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	if has {
		return mantissa + "e" + exponent
	}
	return mantissa
}

func toString(l *lua.LState) int {
	value := l.CheckAny(1)
	if n, ok := value.(lua.LNumber); ok {
		l.Push(lua.LString(text(float64(n))))
	} else {
		l.Push(l.ToStringMeta(value))
	}
	return 1
}

// toNumber is Lua's tonumber; gopher-lua's does not know exponents.
func toNumber(l *lua.LState) int {
	base := l.OptInt(2, 10)
	if base < 2 || base > 36 {
		l.ArgError(2, "base out of range")
	}
	result := lua.LValue(lua.LNil)
	switch v := l.CheckAny(1).(type) {
	case lua.LNumber:
		result = v
	case lua.LString:
		if n, ok := parseNumber(strings.TrimSpace(string(v)), base); ok {
			result = lua.LNumber(n)
		}
	}
	l.Push(result)
	return 1
}

func parseNumber(s string, base int) (float64, bool) {
	if strings.Contains(s, "_") {
		return 0, false // Go's digit separators
	}
	unsigned := strings.ToLower(strings.TrimLeft(s, "+-"))
	if base != 10 || strings.HasPrefix(unsigned, "0x") && !strings.ContainsAny(unsigned, ".p") {
		if base == 16 || base == 10 {
			base, s = 16, strings.Replace(strings.ToLower(s), "0x", "", 1)
		}
		n, err := strconv.ParseInt(s, base, 64)
		return float64(n), err == nil
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil || math.IsInf(f, 0)
}

// FirstState is the State of a new VM: the state of drand48, seeded with 0.
const FirstState = 0x330e

func (vm *VM) draw() float64 {
	vm.random = (vm.random*0x5deece66d + 0xb) & (1<<48 - 1)
	const most = math.MaxInt32
	return float64(vm.random>>17%most) / most
}

func (vm *VM) seedRandom(l *lua.LState) int {
	vm.random = uint64(uint32(int32(l.CheckInt(1))))<<16 | FirstState
	return 0
}

func (vm *VM) nextRandom(l *lua.LState) int {
	r := vm.draw()
	low, high := 1, 0
	switch l.GetTop() {
	case 0:
		l.Push(lua.LNumber(r))
		return 1
	case 1:
		high = l.CheckInt(1)
	case 2:
		low, high = l.CheckInt(1), l.CheckInt(2)
	default:
		l.RaiseError("wrong number of arguments")
	}
	if low > high {
		l.ArgError(l.GetTop(), "interval is empty")
	}
	l.Push(lua.LNumber(math.Floor(r*float64(high-low+1)) + float64(low)))
	return 1
}

// checkFormat makes string.format refuse arguments that do not fit the format;
// gopher-lua's prints them anyway.
func checkFormat(format lua.LGFunction) lua.LGFunction {
	return func(l *lua.LState) int {
		n := 1
		verbs := strings.ReplaceAll(l.CheckString(1), "%%", "")
		for _, verb := range strings.Split(verbs, "%")[1:] {
			n++
			verb = strings.TrimLeft(verb, "-+ #0123456789.")
			switch {
			case verb == "":
				l.RaiseError("invalid option '%%' to 'format'")
			case verb[0] == 's' || verb[0] == 'q':
				l.CheckString(n)
			default:
				l.CheckNumber(n)
			}
		}
		return format(l)
	}
}
