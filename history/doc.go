// Package history is what happened: the operations of a run, how they are
// recorded (a decorator around a Locker), the file they are kept in and its
// readers. What a history means is for package checker to say.
package history
