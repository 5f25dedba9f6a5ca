// Package repeats writes the steps of a schedule for people: what is repeated once, with how often.
package repeats
