package backend

import (
	"fmt"

	"github.com/lockbench/lockbench"
)

// Reading returns err as the error of a read of a record, which had no effect; nil for nil.
func Reading(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read record of %q: %w: %w", key, lockbench.ErrNoEffect, err)
}

// Writing returns err as the error of a write of a record; nil for nil.
func Writing(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write record of %q: %w", key, err)
}
