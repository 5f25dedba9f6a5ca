package backend

import (
	"errors"
	"testing"
)

func TestCreated(t *testing.T) {
	var c Created
	calls := 0
	create := func(name string, err error) error {
		return c.Once(name, func() error { calls++; return err })
	}
	failed := errors.New("failed")
	if err := create("a:1", failed); !errors.Is(err, failed) {
		t.Errorf("got error %v", err)
	}
	for _, name := range []string{"a:1", "a:1", "b:1"} {
		if err := create(name, nil); err != nil {
			t.Error(err)
		}
	}
	if calls != 3 {
		t.Errorf("%d calls, want one that failed, and one for each name", calls)
	}
	if err := c.Sweep("a:", func() error { return failed }); !errors.Is(err, failed) || len(c.names) != 2 {
		t.Errorf("a sweep that failed: error %v, left %v", err, c.names)
	}
	if err := c.Sweep("a:", func() error { return nil }); err != nil || len(c.names) != 1 || !c.names["b:1"] {
		t.Errorf("a sweep: error %v, left %v, want b:1", err, c.names)
	}
}
