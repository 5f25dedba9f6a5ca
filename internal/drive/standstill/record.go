package standstill

import (
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
)

// RecordedAs is the client number of standstills in a history.
const RecordedAs = -2

// Record returns c changed to record standstills as client, the history's own client for them
// (see RecordedAs). An event is stamped with the beginning of the standstill and has its length
// in ns. A reader of the growing history is held back while a standstill may still turn out.
func (c Config) Record(client *history.Client) Config {
	c.Certain = client.HoldBack
	c.Seen = func(s Standstill) { client.FaultSince(s.From, s.note(), int64(s.Length())) }
	return c
}

func (s Standstill) note() string {
	if s.Of == Server {
		return string(fault.ServerStandstill)
	}
	return string(fault.Standstill)
}
