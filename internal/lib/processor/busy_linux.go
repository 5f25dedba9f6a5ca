package processor

import "github.com/prometheus/procfs"

// Busy begins to measure how much of the machine's processor time all programs use. The function that it
// returns tells the share since then, 0 to 1, nil if the system does not report it.
func Busy() (share func() *float64) {
	idle, all := times()
	return func() *float64 {
		nowIdle, nowAll := times()
		if nowAll <= all {
			return nil
		}
		busy := 1 - (nowIdle-idle)/(nowAll-all)
		return &busy
	}
}

// times returns the idle and all seconds of the processors since the machine started, zero if unknown.
func times() (idle, all float64) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, 0
	}
	stat, err := proc.Stat()
	if err != nil {
		return 0, 0
	}
	c := stat.CPUTotal // the times of guests are among those of users
	idle = c.Idle + c.Iowait
	return idle, idle + c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal
}
