package history

import (
	"fmt"
	"math"
	"strings"

	"olympos.io/encoding/edn"
)

// function returns the kind of operation of an :f.
func function(f any) (Kind, error) {
	name, _ := f.(edn.Keyword)
	switch name {
	case "acquire", "lock":
		return Acquire, nil
	case "release", "unlock":
		return Release, nil
	case "extend":
		return Extend, nil
	}
	return 0, fmt.Errorf(":f %v is no operation of a lock; hint: one of :acquire :release :extend", f)
}

// describe fills in the fields from the value of an invocation.
func describe(op *Op, value any) error {
	switch v := value.(type) {
	case nil:
		return nil
	case map[any]any:
		return describeMap(op, v)
	case []any:
		if len(v) != 2 {
			return fmt.Errorf(":value has %d elements, a tuple has 2: [key value]", len(v))
		}
		op.Key = scalar(v[0])
		if m, ok := v[1].(map[any]any); ok {
			return describeMap(op, m)
		}
		return nil
	}
	op.Key = scalar(value)
	return nil
}

func describeMap(op *Op, v map[any]any) error {
	if key, ok := v[edn.Keyword("key")]; ok {
		op.Key = scalar(key)
	}
	var err error
	if op.Asked, err = milliseconds(v, "ttl-ms"); err != nil {
		return err
	}
	op.Wait, err = milliseconds(v, "wait-ms")
	return err
}

// granted fills in the fields from the value of an ok completion.
func granted(op *Op, value any) error {
	if op.Kind == Release {
		return nil
	}
	op.Granted = op.Asked
	if op.Kind == Extend {
		op.Attempt = op.Call
	}
	if tuple, ok := value.([]any); ok && len(tuple) == 2 {
		value = tuple[1]
	}
	m, ok := value.(map[any]any)
	if !ok {
		return nil
	}
	if fence, ok := number(m[edn.Keyword("fence")]); ok && fence > 0 {
		op.Fence = uint64(fence)
	}
	ttl, err := milliseconds(m, "ttl-ms")
	if ttl > 0 {
		op.Granted = ttl
	}
	return err
}

// milliseconds returns a field, given in ms, in ns; zero if it is missing.
func milliseconds(v map[any]any, name edn.Keyword) (int64, error) {
	value, ok := v[name]
	if !ok || value == nil {
		return 0, nil
	}
	ms, ok := number(value)
	if !ok || ms < 0 || ms > math.MaxInt64/2_000_000 {
		return 0, fmt.Errorf(":%s %v is no number of milliseconds", name, value)
	}
	return ms * 1_000_000, nil
}

// failure returns the outcome of an operation that certainly did nothing. For a release or extend,
// the error may also say that the caller is not the owner, which is a loss.
func failure(kind Kind, note string) Outcome {
	if kind == Acquire {
		return Refused
	}
	for _, word := range []string{"not-held", "not-owner", "not-lock-owner", "not-locked", "lost"} {
		if strings.Contains(note, word) {
			return LossReported
		}
	}
	return Failed
}

// noteOf returns the class of an :error: its first words, joined by dashes.
func noteOf(v any) string {
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	words := strings.FieldsFunc(strings.ToLower(scalar(v)), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(words[:min(len(words), 4)], "-")
}

// scalar renders a key or name; nil is nothing.
func scalar(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case edn.Keyword:
		return string(v)
	case string:
		return v
	}
	return fmt.Sprint(v)
}

func number(v any) (int64, bool) {
	n, ok := v.(int64)
	return n, ok
}
