// Package bubble runs package explore in testing/synctest, which needs a
// *testing.T: in a test the test's own (New), in any other program a *testing.T
// that testing.Main makes in a child process (Child and Run).
//
// The child process also contains lock code that a library cannot survive: code
// that crashes the runtime, or waits while it holds a mutex, which hangs the
// bubble. Run kills such a child and reports that.
package bubble
