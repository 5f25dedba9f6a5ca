// Package runtest tests designs by runs with faults. It is no part of designtest, because package runner
// knows all designs, whose own tests import designtest.
package runtest
