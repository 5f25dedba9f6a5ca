// Package processor tells what the processors of this machine were busy with.
package processor
