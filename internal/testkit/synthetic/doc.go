// Package synthetic generates histories of any length, with a given number of
// violations of mutual exclusion and no other error, to test a judge: does it find
// them all, in which time, and with how much memory?
package synthetic
