package script

import (
	"fmt"
	"math"
	"math/bits"

	lua "github.com/yuin/gopher-lua"
)

// bitFunctions are the functions of LuaJIT's bit library, on signed 32-bit
// integers.
var bitFunctions = map[string]lua.LGFunction{
	"tobit":   one(func(a uint32) uint32 { return a }),
	"bnot":    one(func(a uint32) uint32 { return ^a }),
	"bswap":   one(bits.ReverseBytes32),
	"band":    fold(func(a, b uint32) uint32 { return a & b }),
	"bor":     fold(func(a, b uint32) uint32 { return a | b }),
	"bxor":    fold(func(a, b uint32) uint32 { return a ^ b }),
	"lshift":  shift(func(a uint32, n int) uint32 { return a << n }),
	"rshift":  shift(func(a uint32, n int) uint32 { return a >> n }),
	"arshift": shift(func(a uint32, n int) uint32 { return uint32(int32(a) >> n) }),
	"rol":     shift(func(a uint32, n int) uint32 { return bits.RotateLeft32(a, n) }),
	"ror":     shift(func(a uint32, n int) uint32 { return bits.RotateLeft32(a, -n) }),
	"tohex":   toHex,
}

// word is an argument, rounded and truncated to 32 bits.
func word(l *lua.LState, i int) uint32 {
	return uint32(int64(math.RoundToEven(float64(l.CheckNumber(i)))))
}

func pushWord(l *lua.LState, w uint32) int {
	l.Push(lua.LNumber(int32(w)))
	return 1
}

func one(f func(uint32) uint32) lua.LGFunction {
	return func(l *lua.LState) int { return pushWord(l, f(word(l, 1))) }
}

func fold(f func(a, b uint32) uint32) lua.LGFunction {
	return func(l *lua.LState) int {
		w := word(l, 1)
		for i := 2; i <= l.GetTop(); i++ {
			w = f(w, word(l, i))
		}
		return pushWord(l, w)
	}
}

func shift(f func(a uint32, n int) uint32) lua.LGFunction {
	return func(l *lua.LState) int { return pushWord(l, f(word(l, 1), int(word(l, 2)&31))) }
}

// toHex writes so many digits, eight unless told; upper case for a negative number.
func toHex(l *lua.LState) int {
	digits, format := 8, "%08x"
	if l.GetTop() > 1 {
		digits = int(int32(word(l, 2)))
	}
	if digits < 0 {
		digits, format = -digits, "%08X"
	}
	s := fmt.Sprintf(format, word(l, 1))
	l.Push(lua.LString(s[8-min(digits, 8):]))
	return 1
}
