//go:build unix

package adapter_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/impls/adapter"
	"github.com/lockbench/lockbench/impls/design"
)

// fakeVariable makes the test binary an adapter, with a fault or "sound".
const fakeVariable = "LOCKBENCH_FAKE_ADAPTER"

func TestMain(m *testing.M) {
	if fault := os.Getenv(fakeVariable); fault != "" {
		leave("")
		leaveWhenStopped()
		serve(fault)
		leave(".stopped")
		return
	}
	goleak.VerifyTestMain(m)
}

// logVariable is a directory in which each process of the fake leaves a file of all messages.
const logVariable = "LOCKBENCH_FAKE_LOG"

// fake returns the command of an adapter with a fault.
func fake(t *testing.T, fault string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s='%s' exec '%s'", fakeVariable, fault, self)
}

// A fakeAdapter is an adapter around SET NX PX with a token. Its fault is what it does wrong.
type fakeAdapter struct {
	fault, broken string
	client        *redis.Client
	holds         map[int64]fakeHold
	last          int64
	extending     int64 // number of the request to extend that waits
	out           *speaker
	zero          int64 // reading of its clock at the hello
}

type fakeHold struct {
	key, token string
	until      time.Time // the fake tells of the loss of a waiter's hold from then on; zero if it does not
	end        func()    // ends its renewals, nil without these
}

// A speaker writes the lines of a fake, which may come from several goroutines.
type speaker struct {
	mu sync.Mutex
	to *json.Encoder
}

func speakerTo(w io.Writer) *speaker { return &speaker{to: json.NewEncoder(w)} }

func (s *speaker) Encode(line any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.to.Encode(line)
}

// A message is a line to the fake.
type message struct {
	Hello   int      `json:"hello"`
	Servers []string `json:"servers"`
	Stop    bool     `json:"stop"`
	ID      int64    `json:"id"`
	Op      string   `json:"op"`
	Key     string   `json:"key"`
	Hold    int64    `json:"hold"`
	TTLMS   int64    `json:"ttl_ms"`
	AfterMS int64    `json:"after_ms"`
	WaitMS  int64    `json:"wait_ms"`
	Times   int      `json:"times"`
	Cancel  int64    `json:"cancel"`
}

type object = map[string]any

// pipeTime is how long an answer takes to the driver, with the fault "slow pipe".
const pipeTime = 20 * time.Millisecond

// Errors of the fake, as an adapter has them.
var (
	errRefused  = errors.New("refused")
	errNotHeld  = errors.New("not-held")
	errNoEffect = errors.New("no-effect")
)

func serve(fault string) {
	a := &fakeAdapter{fault: fault, broken: os.Getenv("LOCKBENCH_BREAK"), holds: map[int64]fakeHold{}, out: speakerTo(os.Stdout)}
	if fault == "no twin" {
		a.broken = ""
	}
	if fault == "exits" {
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(3)
	}
	in := io.Reader(os.Stdin)
	if dir := os.Getenv(logVariable); dir != "" {
		log, err := os.Create(filepath.Join(dir, pid()))
		if err != nil {
			panic(err)
		}
		in, a.out = io.TeeReader(in, log), speakerTo(io.MultiWriter(os.Stdout, log))
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			panic(err)
		}
		switch {
		case m.Hello > 0:
			a.greet(m)
		case m.Stop && fault == "does not stop" && a.client != nil:
			select {}
		case m.Stop:
			return
		case m.Op == "extend" && fault == "able": // it waits until it is cancelled
			a.extending = m.ID
		case m.Cancel != 0 && m.Cancel == a.extending:
			_ = a.out.Encode(object{"id": m.Cancel, "error": "no-effect", "text": "cancelled"})
		case m.Op != "":
			a.answer(m)
		}
	}
}

func (a *fakeAdapter) greet(m message) {
	if len(m.Servers) > 0 {
		opt, err := redis.ParseURL(m.Servers[0])
		if err != nil {
			panic(err)
		}
		opt.MaxRetries, opt.ReadTimeout, opt.DialTimeout = -1, time.Second, time.Second
		a.client = redis.NewClient(opt)
	}
	switch a.fault {
	case "garbage":
		fmt.Println("ready")
	case "no name":
		_ = a.out.Encode(object{"hello": 1})
	default:
		can := []string{"extend", "ttl", "wait", "dance"}
		if a.fault == "no wait" {
			can = can[:2]
		}
		if a.fault == "loses at once" {
			can = append(can, "lost")
		}
		if a.fault == "able" {
			can = append(can, "fence", "lost", "cancel", "release_after")
		}
		hello := object{"hello": 1, "name": "fake/" + strings.ReplaceAll(a.fault, " ", "-"), "library": "fake", "version": "1", "runtime": "Go", "can": can, "leaseless": a.fault == "leaseless"}
		if a.fault == "another service" {
			hello["service"] = "abacus"
		}
		if strings.HasPrefix(a.fault, "renews") {
			hello["renews"] = "told"
			if a.fault == "renews levels" {
				hello["can"] = append(can, "reentrant")
			}
		}
		if now, err := adapter.Monotonic(); err == nil && a.fault != "no clock" {
			a.zero = now
			if a.fault == "other clock" {
				now -= int64(time.Hour)
			}
			hello["clock"], hello["now_ns"] = "monotonic", now%(1<<53)
		}
		_ = a.out.Encode(hello)
	}
}

func (a *fakeAdapter) answer(m message) {
	switch a.fault {
	case "prints":
		fmt.Println("about to", m.Op)
	case "dies":
		if a.last > 0 {
			fmt.Fprintln(os.Stderr, "segmentation fault")
			os.Exit(139)
		}
	case "other id":
		m.ID += 100
	}
	call := a.stamp()
	ok, err := a.do(m)
	if a.fault == "dies of refusals" && (errors.Is(err, errRefused) || errors.Is(err, errNotHeld)) {
		os.Exit(139)
	}
	line := object{"id": m.ID, "ok": ok}
	if err != nil {
		kind := "unknown"
		for _, known := range []error{errRefused, errNotHeld, errNoEffect} {
			if errors.Is(err, known) {
				kind = known.Error()
			}
		}
		var late net.Error
		if a.fault == "late is lost" && errors.As(err, &late) && late.Timeout() {
			kind = errNotHeld.Error()
		}
		line = object{"id": m.ID, "error": kind, "text": err.Error()}
	}
	if ok == nil && err == nil {
		line["ok"] = object{}
	}
	end := a.stamp()
	switch a.fault {
	case "lying clock":
		end += int64(time.Hour)
	case "early clock":
		call = 0
	case "clock runs back":
		call, end = end, call
	case "slow pipe": // the answer is late, and only the driver's times have it in them
		time.Sleep(pipeTime)
	}
	if a.fault != "no stamps" && a.zero > 0 {
		line["call_ns"], line["return_ns"] = call, end
	}
	_ = a.out.Encode(line)
	if a.fault == "loses at once" && m.Op == "acquire" && err == nil {
		_ = a.out.Encode(object{"lost": ok["hold"]})
		_ = a.out.Encode(object{"lost": ok["hold"]}) // it may say so twice
	}
	if a.fault == "answers twice" {
		_ = a.out.Encode(line)
	}
}

// stamp returns the time since the hello, in ns.
func (a *fakeAdapter) stamp() int64 {
	now, _ := adapter.Monotonic() // of a system without that clock the stamps do not count
	return now - a.zero
}

func (a *fakeAdapter) do(m message) (object, error) {
	ctx := context.Background()
	switch m.Op {
	case "noop":
		return nil, nil
	case "acquire":
		return a.wait(ctx, m)
	case "repeat":
		return a.repeat(ctx, m)
	case "release", "extend", "ttl":
	case "release_after":
		h := a.holds[m.Hold]
		return nil, a.owned(ctx, h, `return redis.call('pexpire', KEYS[1], ARGV[2])`, m.AfterMS)
	default:
		if a.fault == "any op" {
			return nil, nil
		}
		return nil, errNoEffect
	}
	h, known := a.holds[m.Hold]
	switch {
	case !known && a.fault == "any hold":
		return nil, nil
	case !known:
		return nil, errNotHeld
	case m.Op == "ttl":
		if a.fault == "able" {
			_ = a.out.Encode(object{"lost": m.Hold})
		}
		left, err := a.client.PTTL(ctx, h.key).Result()
		if a.fault == "time left in us" {
			left *= 1000
		}
		return object{"ttl_ms": max(0, left.Milliseconds())}, err
	case !h.until.IsZero() && time.Now().After(h.until):
		return nil, errNotHeld
	case m.Op == "extend" && a.fault == "extends nothing":
		return nil, nil
	case m.Op == "extend" && a.fault == "takes again":
		_ = a.client.SetNX(ctx, h.key, h.token, time.Duration(m.TTLMS)*time.Millisecond).Err()
		fallthrough
	case m.Op == "extend":
		return nil, a.owned(ctx, h, `return redis.call('pexpire', KEYS[1], ARGV[2])`, m.TTLMS)
	}
	if h.end != nil {
		h.end()
	}
	if a.broken == "release" || a.fault == "keeps" {
		return nil, nil
	}
	if a.fault == "counts all holds" && len(a.holds) > 10 {
		return nil, nil
	}
	if a.fault == "plain del" {
		return nil, a.client.Del(ctx, h.key).Err()
	}
	err := a.owned(ctx, h, `return redis.call('del', KEYS[1])`, 0)
	if errors.Is(err, errNotHeld) && (a.broken == "silent" || a.fault == "silent") {
		err = nil
	}
	return nil, err
}

func (a *fakeAdapter) repeat(ctx context.Context, m message) (object, error) {
	if a.fault == "no repeat" {
		return nil, errNoEffect
	}
	began := time.Now()
	for range m.Times {
		got, err := a.acquire(ctx, m)
		if err == nil {
			_, err = a.do(message{Op: "release", Hold: got["hold"].(int64)})
		}
		if err != nil {
			return nil, err
		}
		if a.fault == "repeats once" {
			a.fault = "keeps"
		}
	}
	if a.fault == "no time" {
		return nil, nil
	}
	return object{"took_ns": time.Since(began).Nanoseconds()}, nil
}

// owned runs a script if the owner has the key.
func (a *fakeAdapter) owned(ctx context.Context, h fakeHold, script string, ttl int64) error {
	did, err := a.client.Eval(ctx, `if redis.call('get', KEYS[1]) == ARGV[1] then `+script+` end return 0`, []string{h.key}, h.token, ttl).Int()
	if err == nil && did == 0 {
		err = errNotHeld
	}
	return err
}

// wait acquires, and waits for at most the wait of the request.
func (a *fakeAdapter) wait(ctx context.Context, m message) (object, error) {
	called := time.Now()
	for {
		got, err := a.acquire(ctx, m)
		over := time.Since(called) >= time.Duration(m.WaitMS)*time.Millisecond
		switch {
		case err == nil && a.fault == "waits in the lease":
			h := a.holds[a.last]
			h.until = called.Add(time.Duration(m.TTLMS) * time.Millisecond)
			a.holds[a.last] = h
			return got, nil
		case over && m.WaitMS > 0 && a.fault == "grants waiters":
			a.fault = "grants all"
		case over, !errors.Is(err, errRefused), a.fault == "does not wait":
			return got, err
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (a *fakeAdapter) acquire(ctx context.Context, m message) (object, error) {
	h := fakeHold{key: m.Key, token: fmt.Sprint(os.Getpid(), "-", a.last)}
	ttl := time.Duration(m.TTLMS) * time.Millisecond
	switch a.fault {
	case "one lock":
		h.key = h.key[:len("lockbench:01234567:")] + "lock"
	case "hashes keys":
		h.key = fmt.Sprint(h.key[:len("lockbench:01234567:")], crc32.ChecksumIEEE([]byte(h.key[len("lockbench:01234567:"):])))
	case "lasts":
		ttl = 0
	case "half a lease":
		ttl /= 2
	case "whole seconds":
		if ttl > time.Second && ttl%time.Second != 0 {
			return nil, errors.New("ERR value is not an integer or out of range")
		}
	}
	if a.fault == "two commands" {
		set, err := a.client.SetNX(ctx, h.key, h.token, 0).Result()
		if err == nil && set {
			err = a.client.PExpire(ctx, h.key, ttl).Err()
		}
		if err != nil {
			return nil, err
		}
		if !set && a.broken != "grant" {
			return nil, errRefused
		}
		a.last++
		a.holds[a.last] = h
		return object{"hold": a.last}, nil
	}
	set, err := a.client.SetNX(ctx, h.key, h.token, ttl).Result()
	switch {
	case err != nil:
		return nil, err
	case !set && a.broken != "grant" && a.fault != "grants all":
		return nil, errRefused
	}
	a.last++
	if strings.HasPrefix(a.fault, "renews") {
		renewing, end := context.WithCancel(ctx)
		h.end = end
		go a.renew(renewing, a.last, h, ttl)
	}
	a.holds[a.last] = h
	return object{"hold": a.last, "fence": fmt.Sprint(a.last)}, nil
}

// renew renews a hold again and again until it is released or lost, and reports each renewal.
func (a *fakeAdapter) renew(ctx context.Context, hold int64, h fakeHold, ttl time.Duration) {
	const pause = 10 * time.Millisecond
	for design.Sleep(ctx, pause) == nil {
		attempt := a.stamp()
		var err error
		if a.fault != "renews in words" {
			err = a.owned(context.WithoutCancel(ctx), h, `return redis.call('pexpire', KEYS[1], ARGV[2])`, ttl.Milliseconds())
		}
		report := object{"renewed": hold, "ttl_ms": ttl.Milliseconds(), "attempt_ns": attempt}
		switch a.fault {
		case "renews without a stamp":
			delete(report, "attempt_ns")
		case "renews before it held":
			report["attempt_ns"] = 1
		case "renews in the future":
			report["attempt_ns"] = attempt + int64(time.Hour)
		}
		if err != nil {
			report["error"] = "unknown"
		}
		if errors.Is(err, errNotHeld) {
			report["error"] = "not-held"
		}
		_ = a.out.Encode(report)
		if errors.Is(err, errNotHeld) {
			return
		}
	}
}
