package load

import (
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// An alarm waits for instants. Go rounds its timers up to the next ms if nothing else happens,
// because the runtime waits in epoll. A timer of the kernel, which epoll watches like a connection,
// is late by some 50 µs. Only one goroutine may use it at a time.
type alarm struct {
	fd   int
	file *os.File // of fd; nil if the kernel gave none
}

func newAlarm() *alarm {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return &alarm{}
	}
	return &alarm{fd, os.NewFile(uintptr(fd), "timer")}
}

// minSleep is the time that setting the timer takes. For shorter waits the alarm yields the
// processor instead.
const minSleep = 20 * time.Microsecond

// wait returns at due, or soon after.
func (a *alarm) wait(due time.Time) {
	for {
		left := time.Until(due)
		switch {
		case left <= 0:
			return
		case left < minSleep:
			runtime.Gosched()
		case a.file == nil || !a.sleep(left):
			time.Sleep(left)
		}
	}
}

// sleep sleeps for d. It returns false if it could not.
func (a *alarm) sleep(d time.Duration) bool {
	in := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	if unix.TimerfdSettime(a.fd, 0, &in, nil) != nil {
		return false
	}
	var expirations [8]byte
	_, err := a.file.Read(expirations[:])
	return err == nil
}

// close gives the timer back.
func (a *alarm) close() {
	if a.file != nil {
		_ = a.file.Close()
	}
}
