// Package legible makes foreign text safe to show: replies of a server, the contents of a given file,
// and repeated arguments. Such text must not move a cursor, clear a screen, reverse the text around
// it, or contain a password.
package legible

import (
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Text replaces runes that terminals obey, that turn text around on pages, or that XML cannot
// contain: control characters except line ends and tabs, the controls of bidirectional text, and
// invalid UTF-8. It masks what [Hide] hides.
func Text(s string) string {
	s = Masked(s)
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

// All applies [Text], in place, to every exported string reachable from v, a pointer, except
// strings in maps and in values of type any. The values that v leads to must have no cycles. It
// copies a list of strings before it changes one.
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
		if v.CanSet() { // not of an unexported field
			if texts, ok := reflect.TypeAssert[[]string](v); ok && slices.ContainsFunc(texts, func(s string) bool { return Text(s) != s }) {
				v.Set(reflect.ValueOf(slices.Clone(texts)))
			}
		}
		for i := range v.Len() {
			walk(v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i))
		}
	case reflect.String:
		if text := v.String(); v.CanSet() && Text(text) != text { // others may read it
			v.SetString(Text(text))
		}
	}
}
