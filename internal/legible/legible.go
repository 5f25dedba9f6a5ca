// Package legible makes text of others fit to be read: the words of a server, what stands in a file
// that was given. Such text must not move a cursor, clear a screen, or turn around what stands
// beside it.
package legible

import (
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Text replaces what terminals obey, pages turn text around by, and XML has no place for, rune by
// rune: control characters but line ends and tabs, the controls of bidirectional text, and what is
// not UTF-8.
func Text(s string) string {
	if !strings.ContainsFunc(s, hostile) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if hostile(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

func hostile(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ', r >= 0x7F && r <= 0x9F: // C0, DEL and C1
		return true
	case r == 0x061C, r == 0x200E, r == 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069: // of direction
		return true
	}
	return r == utf8.RuneError || r == 0x2028 || r == 0x2029 || r == 0xFFFE || r == 0xFFFF
}

// All replaces, in place, what [Text] does in every exported string that v, a pointer, leads to,
// but for those in maps and in values of type any. What v leads to has no cycles. It copies a list of
// strings before it changes one.
func All(v any) { walk(reflect.ValueOf(v)) }

func walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && !(v.Kind() == reflect.Interface && v.NumMethod() == 0) {
			walk(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			walk(v.Field(i))
		}
	case reflect.Slice:
		if texts, ok := reflect.TypeAssert[[]string](v); ok && v.CanSet() && slices.ContainsFunc(texts, func(s string) bool { return Text(s) != s }) {
			v.Set(reflect.ValueOf(slices.Clone(texts)))
		}
		for i := range v.Len() {
			walk(v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i))
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(Text(v.String()))
		}
	}
}
