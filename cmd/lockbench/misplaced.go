package main

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/impls"
)

// misplaced returns the error for designs in place of other arguments. It suggests command, with
// %s for the designs. It returns nil if the arguments are no designs.
func misplaced(args []string, expected, command string) error {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "+") // a guard
		if _, err := impls.Match(name); err != nil {
			return nil
		}
	}
	if len(args) == 0 {
		return nil
	}
	what := "a design stands"
	if len(args) > 1 {
		what = "designs stand"
	}
	named := strings.Join(args, " ")
	if strings.Contains(command, "--design") {
		named = strings.Join(args, ",")
	}
	return fmt.Errorf("%s: %s where %s; hint: %s", named, what, expected, fmt.Sprintf(command, named))
}
