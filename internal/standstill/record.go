package standstill

import (
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
)

// RecordedAs is the client of a history that its standstills are recorded as.
const RecordedAs = -2

// Record has what c sees recorded by client, which is a history's own for it (see RecordedAs): an
// event that stands where the standstill began and says how long it lasted, in ns. A
// history that is read while it grows is held back for as long as one may still turn out.
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
