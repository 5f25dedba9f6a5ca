package rueidislock

import (
	"time"

	"github.com/lockbench/lockbench/impls/design"
)

// Patient returns the family, patient enough for a machine that is busy with other tests.
func Patient() []design.Design { return family(500 * time.Millisecond) }
