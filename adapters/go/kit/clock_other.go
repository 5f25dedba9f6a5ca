//go:build !linux

package kit

// monotonic returns zero: no clock is known to be that of lockbench.
func monotonic() int64 { return 0 }
