package explore

// A Replay is a schedule that can be run again: the readable file that
// Replay.WriteTo writes and ReadReplay reads.
type Replay struct {
	Text []byte
}
