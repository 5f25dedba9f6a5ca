package locktest

import (
	"github.com/lockbench/lockbench/impls/design"
)

// DesignOf is what Explore makes of a lock whose leases do not tell their validity.
func DesignOf(name string, newLocker NewLocker) design.Design {
	return design.Design{
		Name: name, Summary: "a lock under test", Source: "locktest", Reacquire: design.Refused,
		Claims: abilities{extend: true}.claims(),
		Open: func(env design.Environment) (design.Process, error) {
			return patient{open(nil, newLocker, env)}, nil
		},
	}
}
