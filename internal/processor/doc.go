// Package processor reports what the processors of this machine were busy with.
package processor
