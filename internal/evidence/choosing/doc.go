// Package choosing chooses a lock for a user's case, from the findings in the released matrix.
package choosing
