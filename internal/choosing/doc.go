// Package choosing chooses a lock by what somebody knows of their own case, from what the
// released matrix knows of the designs.
package choosing
