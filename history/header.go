package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// Schema is the version of the history format that this package writes.
const Schema = "lockbench/history/v2"

// A Header opens a history. It has the rules for reading the operations and the claims for judging
// them. It is flat, like its JSON object.
type Header struct {
	Schema string `json:"schema"`
	// Design is the lock's name, Claims are its claims.
	Design string           `json:"design"`
	Claims lockbench.Claims `json:"claims"`
	// AssumedClaims: the history states no claims, and Claims are the usual claims of a lease lock
	// on one server ([lockbench.LeaseClaims]).
	AssumedClaims bool `json:"assumed_claims,omitempty"`
	// Reacquire is the effect of a second acquire by the holder: refused, nested or refreshed
	// (impls/design).
	Reacquire string `json:"reacquire"`
	// Control is empty for a lock. Otherwise it is the kind of control: no-lock or atomic. An
	// acquire of atomic is a whole transaction of the workload.
	Control string `json:"control,omitempty"`
	// Renews: the design renews its holds in the background.
	Renews bool `json:"renews"`
	// RenewsUnseen: the lock may renew its holds without reporting it. A hold then counts as
	// held until its release, and no lease counts as longer than the acquire's.
	RenewsUnseen bool `json:"renews_unseen,omitempty"`
	// ToleranceNS is how long, in ns, the design may keep a key from others past a lease.
	ToleranceNS int64 `json:"tolerance_ns"`
	// WakesNS is the time, in ns, within which a waiter notices that a key became free, by polling
	// or by a notification. Zero: the design states none.
	WakesNS int64 `json:"wakes_ns,omitempty"`
	// Exercises are the cells that the workload and its faults can put to the test.
	Exercises []lockbench.Cell `json:"exercises"`

	Workload string         `json:"workload"`
	Params   map[string]any `json:"params,omitempty"`
	Seed     uint64         `json:"seed"`
	// Faults names the kinds of faults that may occur in the run. If there are none, a refusal is
	// judged at once, and no later fault can explain it.
	Faults []string `json:"faults,omitempty"`
	// WarmupNS is the time at the start that measurements leave out, in ns.
	WarmupNS int64 `json:"warmup_ns"`
	// Clients is the number of measured clients, which have the lowest numbers. Stallers is the
	// number of clients after them that are judged and not measured. The successor of a client
	// that died has a number that is higher by the sum of both. Both are zero without stallers.
	Clients  int `json:"clients,omitempty"`
	Stallers int `json:"stallers,omitempty"`

	// Share is the part of the run that this record has. Clients of other shares take other keys unless
	// Others is set.
	Share runinfo.Share `json:"share,omitzero"`

	// Stamps is AdapterStamps if an adapter's own clock timed the calls, see docs/adapter-protocol.md;
	// empty: the recorder's clock did.
	Stamps string `json:"stamps,omitempty"`

	Server      runinfo.Server      `json:"server"`
	Environment runinfo.Environment `json:"environment"`
	// Started is the wall-clock time of stamp zero, RFC 3339.
	Started string `json:"started"`
	// Others: owners outside of the record, such as clients of another process, may hold the
	// recorded keys, and may so explain a refusal.
	Others bool `json:"others,omitempty"`
	// Sample is the share of keys that are recorded, each with all of its operations: between 0 and
	// 1. Zero: all keys are.
	Sample float64 `json:"sample,omitempty"`
}

// AdapterStamps is the [Header.Stamps] of a run whose calls were timed by the clock of an adapter.
const AdapterStamps = "adapter"

// readHeader decodes a header into h, which has the defaults. It checks the schema first, since
// other versions may have other fields.
func readHeader(text []byte, h *Header, decode func(text []byte, into any) error) error {
	var header struct {
		Schema string
		Claims json.RawMessage
	}
	if json.Unmarshal(text, &header) == nil && header.Schema != "" {
		if err := checkSchema(header.Schema); err != nil {
			return err
		}
	}
	h.AssumedClaims = header.Claims == nil
	if err := decode(text, h); err != nil {
		return err
	}
	return errors.Join(checkSchema(h.Schema), checkWakes(h.WakesNS))
}

// checkSchema returns an error unless schema is [Schema].
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

// checkWakes returns an error for a time that no waiter can keep.
func checkWakes(ns int64) error {
	if ns < 0 {
		return fmt.Errorf("wakes_ns is %d, before the key is free; hint: leave it out where the lock does not say how soon its waiters ask again", ns)
	}
	return nil
}

// check returns an error for a header that strict readers do not accept.
func (h *Header) check() error {
	if !slices.Contains([]string{"", "refused", "nested", "refreshed"}, h.Reacquire) {
		return fmt.Errorf(`"reacquire" is %q; hint: refused, nested or refreshed`, h.Reacquire)
	}
	if !slices.Contains([]string{"", AdapterStamps}, h.Stamps) {
		return fmt.Errorf(`"stamps" is %q; hint: %s, or leave it out`, h.Stamps, AdapterStamps)
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
	// Traffic has the bytes on the design's connections; nil if they were not counted.
	Traffic *runinfo.Traffic `json:"traffic,omitempty"`
	// ServerCPUNS is the processor time of the servers from the end of the warm-up to EndNS, in
	// ns. It is nil if it is not known: for servers that others may use, for the embedded one, and
	// across a restart.
	ServerCPUNS *int64 `json:"server_cpu_ns,omitempty"`
	// Ops is the number of operations recorded.
	Ops int64 `json:"ops"`
	// Ended is the reason why the run ended: "duration", "operations", "interrupted" ...
	Ended string `json:"ended"`
	// MonitorOverlaps counts, per key, the entries into a critical section in
	// which the occupancy monitor saw another client within both validities.
	MonitorOverlaps map[string]int64 `json:"witness_overlaps,omitempty"`
	// MonitorEntries counts the entries that the monitor saw.
	MonitorEntries int64 `json:"witness_entries"`
	// Faults count the occurrences of each fault of a live run.
	Faults []runinfo.FaultExposure `json:"faults,omitempty"`
	// Arrivals has the delays against the timetable of an open loop; nil for a closed loop.
	Arrivals *runinfo.Arrivals `json:"arrivals,omitempty"`
	// Business has the totals of the workload, in its own terms; nil if it counts nothing.
	Business *runinfo.Business `json:"business,omitempty"`
}
