package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// strict decodes one JSON object in which every field is known, by its exact name, and given
// once: a field with a slip in its name would silently change the verdict.
func strict(text []byte, v any) error {
	if !utf8.Valid(text) {
		return errors.New("it has bytes that are not UTF-8; hint: key_base64 has keys of any bytes")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errCutLine
	case errors.As(err, &syntax):
		return fmt.Errorf("it is no JSON at byte %d: %w; hint: one object on each line", syntax.Offset, err)
	}
	if len(text) == 0 || text[0] != '{' {
		return fmt.Errorf("it is %s, and no object; hint: one object on each line", shortened(text))
	}
	names := namesOf(reflect.TypeOf(v).Elem())
	if slip := onceAndKnown(text, names); slip != nil {
		return slip
	}
	switch {
	case errors.As(err, &wrong):
		return wrongType(text, wrong)
	case err != nil:
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON object; hint: one object on each line")
	}
	return nil
}

var errCutLine = errors.New("the line is cut short")

// onceAndKnown looks for fields that names has not, and for those that are there twice.
func onceAndKnown(text []byte, names []string) error {
	var seen uint64
	return eachField(text, func(name, value []byte) error {
		at := -1
		for i, n := range names {
			if n == string(name) {
				at = i
				break
			}
		}
		switch {
		case at < 0:
			return fmt.Errorf("unknown field %q, which is %s; hint: %s", name, shortened(value), suggestion(string(name), names))
		case seen&(1<<at) != 0:
			return fmt.Errorf("%q is there twice, the second time as %s; hint: each field once", name, shortened(value))
		}
		seen |= 1 << at
		return nil
	})
}

// eachField passes on the fields of the JSON object that text, which is valid, begins with.
func eachField(text []byte, do func(name, value []byte) error) error {
	rest := text[1:]
	for {
		rest = bytes.TrimLeft(rest, " \t\r\n,")
		if rest[0] == '}' {
			return nil
		}
		n := valueLength(rest)
		name := rest[1 : n-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			var unescaped string
			if err := json.Unmarshal(rest[:n], &unescaped); err != nil {
				return err
			}
			name = []byte(unescaped)
		}
		rest = bytes.TrimLeft(rest[n:], " \t\r\n:")
		n = valueLength(rest)
		if err := do(name, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
}

// valueLength is the length of the JSON value that text, which is valid, begins with.
func valueLength(text []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			if quoted = !quoted; !quoted && depth == 0 {
				return i + 1
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth < 0 {
				return i
			} else if depth == 0 {
				return i + 1
			}
		case depth == 0 && strings.IndexByte(", \t\r\n:", c) >= 0:
			return i
		}
	}
	return len(text)
}

// wrongType is the error for a field with a value of the wrong type.
func wrongType(text []byte, wrong *json.UnmarshalTypeError) error {
	value := wrong.Value
	_ = eachField(text, func(name, v []byte) error {
		if string(name) == wrong.Field {
			value = shortened(v)
		}
		return nil
	})
	return fmt.Errorf("%q is %s; hint: it is %s", wrong.Field, value, typeInWords(wrong.Type))
}

func typeInWords(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int32:
		return "a whole number of 32 bits, without quotes, fraction or exponent"
	case reflect.Int, reflect.Int64:
		return "a whole number of 64 bits, without quotes, fraction or exponent"
	case reflect.Uint64:
		return "a whole number from 0 to 2^64-1, without quotes, fraction or exponent"
	case reflect.Bool:
		return "true or false"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "base64 in quotes"
		}
		return "a list"
	}
	return "text in quotes"
}

// shortened is a JSON value as errors quote it.
func shortened(value []byte) string {
	const longest = 60
	if len(value) <= longest {
		return string(value)
	}
	return strings.ToValidUTF8(string(value[:longest]), "") + "..."
}

// namesOf lists the fields of a JSON object, 64 at most.
func namesOf(t reflect.Type) (names []string) {
	switch t {
	case lineType:
		return lineNames
	case reflect.TypeFor[Header]():
		return headerNames
	}
	return fieldNames(t)
}

var (
	lineType    = reflect.TypeFor[line]()
	lineNames   = fieldNames(lineType)
	headerNames = fieldNames(reflect.TypeFor[Header]())
)

func fieldNames(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}
