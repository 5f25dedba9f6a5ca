// Package synthetic makes up histories of any length, with as many breaches of mutual
// exclusion as asked for and nothing else wrong, to try a judge on: does it find
// them all, how long does it take, and how much memory?
package synthetic
