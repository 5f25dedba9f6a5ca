package adapter

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Version is the version of the protocol.
const Version = 1

// longestLine is the largest number of bytes of a line, with its end.
const longestLine = 64 << 10

// A greeting is the first line that an adapter gets.
type greeting struct {
	Hello   int      `json:"hello"`
	Servers []string `json:"servers"` // URLs; none if a hello is all that is asked for
	Prefix  string   `json:"prefix"`
	Seed    uint64   `json:"seed"`
}

// A Hello is an adapter's description of itself. The zero value of a field stands for its default.
type Hello struct {
	Hello int `json:"hello"`
	// Name, Library, Version and Runtime are for people: redis-py, redis, 8.1.0, CPython 3.11.
	Name    string `json:"name"`
	Library string `json:"library"`
	Version string `json:"version"`
	Runtime string `json:"runtime"`
	// Service is the name of the service that the lock stands on; empty is redis.
	Service string `json:"service"`
	// Owners is the largest number of owners of a process. With one, requests come one after the
	// other; with more, each owner's do, and answers may have any order. Zero is one.
	Owners int `json:"owners"`
	// Can are the abilities of the lock.
	Can []Ability `json:"can"`
	// Leaseless, Renews and Reentrant are as in [design.Design].
	Leaseless bool   `json:"leaseless"`
	Renews    Renews `json:"renews"`
	// ReleaseTells reports whether a release says that the lock was lost; nil is true.
	ReleaseTells *bool `json:"release_tells"`
	// GrainMS is the unit of leases in ms, zero for 1; Round says how a lease becomes a multiple.
	GrainMS int64    `json:"grain_ms"`
	Round   Rounding `json:"round"`
	// Claims are terms that change the claims of the lock, as for --claims.
	Claims []string `json:"claims"`
	// Clock is "monotonic" if answers have stamps of CLOCK_MONOTONIC, in ns since the reading that is NowNS
	// modulo 2^53.
	Clock string `json:"clock"`
	NowNS int64  `json:"now_ns"`
}

// An Ability is something that not every lock can do.
type Ability string

// The abilities.
const (
	Extend       Ability = "extend"        // prolong a lease
	Fence        Ability = "fence"         // number its grants
	Lost         Ability = "lost"          // inform the holder of a loss
	TTL          Ability = "ttl"           // read the time left
	ReleaseAfter Ability = "release_after" // release, and keep all owners out for a while
	Cancel       Ability = "cancel"        // give up a request
	Reentrant    Ability = "reentrant"     // grant again to the holder, and count
	Wait         Ability = "wait"          // wait for a held lock, for at most a given time
)

// Renews says whether a lock renews its leases.
type Renews string

// The values of Renews; an empty one is RenewsNot.
const (
	RenewsNot    Renews = "no"
	RenewsTold   Renews = "told"   // the adapter reports renewals, which count if its own stamps do
	RenewsUnseen Renews = "unseen" // it does not
)

// A Rounding says how a requested lease becomes a multiple of the unit.
type Rounding string

// The roundings; an empty one is Up.
const (
	Up   Rounding = "up"
	Down Rounding = "down"
)

// An op is a kind of request.
type op string

const (
	opAcquire      op = "acquire"
	opRelease      op = "release"
	opExtend       op = "extend"
	opTTL          op = "ttl"
	opReleaseAfter op = "release_after"
	opNoop         op = "noop"
	opRepeat       op = "repeat"
)

// A request is a line to the adapter. Cancel and Stop stand alone.
type request struct {
	ID      int64  `json:"id,omitempty"`
	Owner   int    `json:"owner,omitempty"`
	Op      op     `json:"op,omitempty"`
	Key     string `json:"key,omitempty"`
	Hold    int64  `json:"hold,omitempty"`
	TTLMS   int64  `json:"ttl_ms,omitempty"`
	AfterMS int64  `json:"after_ms,omitempty"`
	WaitMS  int64  `json:"wait_ms,omitempty"` // of opAcquire, zero for one attempt
	Times   int    `json:"times,omitempty"`   // of opRepeat
	Cancel  int64  `json:"cancel,omitempty"`
	Stop    bool   `json:"stop,omitempty"`
	Later   bool   `json:"later,omitempty"` // a field that no version has, for [Check]

	renewals *renewals // of the hold that this acquire is granted; nil if they are not recorded
}

// An answer is a line of the adapter: the answer to a request, or a report of a loss or a renewal.
type answer struct {
	ID    int64  `json:"id"`
	OK    *grant `json:"ok"`
	Error string `json:"error"`
	Text  string `json:"text"`  // for people
	Class string `json:"class"` // type of the error
	// CallNS and ReturnNS are when the request began and ended, by the clock of the hello.
	CallNS   int64 `json:"call_ns"`
	ReturnNS int64 `json:"return_ns"`
	// Lost and Renewed are holds. The report of a renewal has an Error if it failed. TTLMS is its lease,
	// zero for the lease of the acquire. AttemptNS is when it was sent, by the clock of the hello, zero if
	// that is unknown.
	Lost      int64 `json:"lost"`
	Renewed   int64 `json:"renewed"`
	TTLMS     int64 `json:"ttl_ms"`
	AttemptNS int64 `json:"attempt_ns"`
}

// A grant is the result of a request that succeeded: of an acquire its hold; of an acquire or an extend
// the lease, if it differs from the requested one; of a ttl the time left; of a repeat its duration.
type grant struct {
	Hold   int64  `json:"hold"`
	Fence  string `json:"fence"`
	TTLMS  int64  `json:"ttl_ms"`
	TookNS int64  `json:"took_ns"`

	ran time.Time // when the request began, by the adapter's clock; zero if the driver's counts
}

// The errors that an adapter answers with. Any other is as unknown.
const (
	errorRefused  = "refused"   // another owner holds the lock
	errorNotHeld  = "not-held"  // the owner had lost the lock
	errorNoEffect = "no-effect" // the request certainly did nothing
)

// parse parses a line of an adapter.
func parse(line []byte) (a answer, err error) {
	if err := json.Unmarshal(line, &a); err != nil {
		return a, fmt.Errorf("%w; hint: standard output is for answers alone, a log goes to standard error", err)
	}
	if a.ID == 0 && a.Lost == 0 && a.Renewed == 0 {
		return a, errors.New("it has neither an id nor lost nor renewed; hint: an answer has the id of its request")
	}
	if a.ID != 0 && (a.OK == nil) == (a.Error == "") {
		return a, errors.New("it has neither ok nor an error, or both; hint: one of them")
	}
	return a, nil
}

// parseHello parses the first line of an adapter.
func parseHello(line []byte) (h Hello, err error) {
	if err := json.Unmarshal(line, &h); err != nil {
		return h, fmt.Errorf("%w; hint: the first line says hello, and a log goes to standard error", err)
	}
	switch {
	case h.Hello < 1:
		return h, errors.New(`it does not say hello; hint: such as {"hello":1,"name":"mine"}`)
	case h.Name == "":
		return h, errors.New(`name is missing; hint: such as {"hello":1,"name":"mine"}`)
	case h.Owners < 0:
		return h, fmt.Errorf("owners %d: too few; hint: 1 or more", h.Owners)
	case !slices.Contains([]Renews{"", RenewsNot, RenewsTold, RenewsUnseen}, h.Renews):
		return h, fmt.Errorf("renews %q: unknown; hint: no, told or unseen", h.Renews)
	case !slices.Contains([]Rounding{"", Up, Down}, h.Round):
		return h, fmt.Errorf("round %q: unknown; hint: up or down", h.Round)
	case h.GrainMS < 0:
		return h, fmt.Errorf("grain_ms %d: too short; hint: 1 or more", h.GrainMS)
	}
	h.Owners, h.GrainMS = max(1, h.Owners), max(1, h.GrainMS)
	return h, nil
}

// grain returns the unit of leases.
func (h *Hello) grain() time.Duration { return time.Duration(h.GrainMS) * time.Millisecond }

// granted returns the lease that is granted if ttl is requested.
func (h *Hello) granted(ttl time.Duration) time.Duration {
	grain := h.grain()
	if h.Round == Up || h.Round == "" {
		ttl += grain - 1
	}
	return max(grain, ttl.Truncate(grain))
}

// millis returns d in whole ms, rounded up.
func millis(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }
