//go:build !linux

package load

import "time"

// An alarm waits for instants, as precisely as Go's timers do. Only one goroutine may
// use it at a time.
type alarm struct{}

func newAlarm() *alarm { return &alarm{} }

// wait returns at due, or soon after.
func (*alarm) wait(due time.Time) { time.Sleep(time.Until(due)) }

func (*alarm) close() {}
