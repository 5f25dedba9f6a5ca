// Package processor reports how much processor time this program has used.
package processor
