// Package bubble lets package explore into testing/synctest, which wants a
// *testing.T: that of a test (New), or in a program that is no test one that
// testing.Main makes in a child process (Child and Run).
//
// A child it is also because lock code can do what no library survives: crash the
// runtime, or hold a mutex while it waits, which hangs the bubble. Run kills such a
// child and says so.
package bubble
