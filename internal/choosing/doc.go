// Package choosing chooses a lock for somebody's own case, from the findings of the
// released matrix on the designs.
package choosing
