package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/runinfo"
)

// Schema is the version of the history format that this package writes.
const Schema = "lockbench/history/v2"

// A Header opens a history and reports how to read it and what to hold it to. It is flat, as the
// JSON object that it is written as.
type Header struct {
	Schema string `json:"schema"`
	// Design is the lock's name, Claims what it is held to.
	Design string           `json:"design"`
	Claims lockbench.Claims `json:"claims"`
	// Reacquire is what a second acquire by the holder means: refused, nested or
	// refreshed (impls/design).
	Reacquire string `json:"reacquire"`
	// Control says that this is no lock but a control to compare locks with, and which:
	// no-lock, or atomic, whose acquires are whole steps of business. Empty for a lock.
	Control string `json:"control,omitempty"`
	// Renews: the design prolongs its holds by itself.
	Renews bool `json:"renews"`
	// RenewsUnseen: for all that is known of it, the lock may prolong its holds by
	// itself without reporting it. What is held then counts as held until it is
	// released, and no lease counts as longer than the acquire's.
	RenewsUnseen bool `json:"renews_unseen,omitempty"`
	// ToleranceNS is how much longer than a lease the design itself may keep a
	// key from others, in ns.
	ToleranceNS int64 `json:"tolerance_ns"`
	// WakesNS is how soon a waiter asks again for a key that became free, in ns: by polling, or since it is
	// told. Zero where the design does not say.
	WakesNS int64 `json:"wakes_ns,omitempty"`
	// Exercises is what the workload and its faults can put to the test.
	Exercises []lockbench.Cell `json:"exercises"`

	Workload string         `json:"workload"`
	Params   map[string]any `json:"params,omitempty"`
	Seed     uint64         `json:"seed"`
	// Faults names the kinds of faults that may occur in the run. Where none is named a
	// refusal is judged at once, before a fault that comes later could explain it.
	Faults []string `json:"faults,omitempty"`
	// WarmupNS is how much of the start is left out of measurements, in ns.
	WarmupNS int64 `json:"warmup_ns"`
	// Clients are those that are measured, the first by number; Stallers so many after them that
	// are judged and not measured. A client in the place of one that died has a number that is
	// higher by the sum of both. Zero where nobody stalls apart.
	Clients  int `json:"clients,omitempty"`
	Stallers int `json:"stallers,omitempty"`

	Server      runinfo.Server      `json:"server"`
	Environment runinfo.Environment `json:"environment"`
	// Started is the wall-clock time of stamp zero, RFC 3339.
	Started string `json:"started"`
	// Others: owners of whom the history has no record may hold its keys, such as those of
	// another process. A refusal then has an explanation that is not in the record.
	Others bool `json:"others,omitempty"`
	// Sample is the part of all keys that are recorded, each of them wholly: above 0, and below
	// 1. Zero: all are.
	Sample float64 `json:"sample,omitempty"`
}

// readHeader reads a header into h, which holds the defaults. decode reads text, or says why
// not. The schema is checked first: another version may have other fields.
func readHeader(text []byte, h *Header, decode func(text []byte, into any) error) error {
	var header struct{ Schema string }
	if json.Unmarshal(text, &header) == nil && header.Schema != "" {
		if err := checkSchema(header.Schema); err != nil {
			return err
		}
	}
	if err := decode(text, h); err != nil {
		return err
	}
	return errors.Join(checkSchema(h.Schema), checkWakes(h.WakesNS))
}

// checkSchema accepts the schema that this package writes only.
func checkSchema(schema string) error {
	family, _, _ := strings.Cut(Schema, "/v")
	hint := "use a newer lockbench"
	switch {
	case schema == Schema:
		return nil
	case otherDocument(schema):
		return noHistory(schema)
	case schema == family+"/v1":
		hint = "lockbench of commit 3ca9b9fc, before 0.1.0, reads it"
	case !strings.HasPrefix(schema, family+"/v"):
		return fmt.Errorf("the schema is %q, not %q; hint: is this a lockbench history?", schema, Schema)
	}
	return fmt.Errorf("the schema is %q, this lockbench reads %q; hint: %s", schema, Schema, hint)
}

// checkWakes wants a time that a waiter can keep.
func checkWakes(ns int64) error {
	if ns < 0 {
		return fmt.Errorf("wakes_ns is %d, before the key is free; hint: leave it out where the lock does not say how soon its waiters ask again", ns)
	}
	return nil
}

// check refuses what strict readers do not take for a header.
func (h *Header) check() error {
	if !slices.Contains([]string{"", "refused", "nested", "refreshed"}, h.Reacquire) {
		return fmt.Errorf(`"reacquire" is %q; hint: refused, nested or refreshed`, h.Reacquire)
	}
	if h.Sample < 0 || h.Sample > 1 {
		return fmt.Errorf(`"sample" is %v; hint: the part of the keys that are recorded, from 0 to 1`, h.Sample)
	}
	for _, f := range []struct {
		name string
		n    int64
	}{{"tolerance_ns", h.ToleranceNS}, {"warmup_ns", h.WarmupNS}, {"clients", int64(h.Clients)}, {"stallers", int64(h.Stallers)}} {
		if f.n < 0 {
			return fmt.Errorf(`%q is %d, less than nothing; hint: leave it out`, f.name, f.n)
		}
	}
	return nil
}

// Stalls reports whether a client is one of the stallers.
func (h *Header) Stalls(client int32) bool {
	return h.Stallers > 0 && client >= 0 && int(client)%(h.Clients+h.Stallers) >= h.Clients
}

// A Trailer closes a complete history.
type Trailer struct {
	// EndNS is the stamp at which clients stopped, in ns.
	EndNS int64 `json:"end_ns"`
	// Commands is the number of requests the design sent to the server.
	Commands int64 `json:"commands"`
	// Traffic is what the design's connections carried, nil where nobody counted.
	Traffic *runinfo.Traffic `json:"traffic,omitempty"`
	// ServerCPUNS is the processor time that the servers took from the end of the
	// warm-up to EndNS, in ns, for whatever came to them; nil where that is not known:
	// of servers that others may use, of the embedded one, and across a restart.
	ServerCPUNS *int64 `json:"server_cpu_ns,omitempty"`
	// Ops is the number of operations recorded.
	Ops int64 `json:"ops"`
	// Ended says why the run ended: "duration", "operations", "interrupted" ...
	Ended string `json:"ended"`
	// MonitorOverlaps counts, per key, the entries into a critical section in
	// which the occupancy monitor saw another client within both validities.
	MonitorOverlaps map[string]int64 `json:"witness_overlaps,omitempty"`
	// MonitorEntries is how many entries the monitor saw.
	MonitorEntries int64 `json:"witness_entries"`
	// Faults say how often each fault of a live run occurred.
	Faults []runinfo.FaultExposure `json:"faults,omitempty"`
	// Arrivals tell how well the timetable of an open loop was kept; nil in a closed one.
	Arrivals *runinfo.Arrivals `json:"arrivals,omitempty"`
	// Business is what the workload came to in its own words; nil where it counts nothing.
	Business *runinfo.Business `json:"business,omitempty"`
}
