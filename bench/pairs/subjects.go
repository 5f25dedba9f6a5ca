package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/service/servers"
)

const (
	leaseMillis = 60_000 // longer than any turn
	// compareAndDelete is the release of every token lock (SET's documentation).
	compareAndDelete = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`
	token            = "0123456789abcdef0123456789abcdef"
)

// A subject executes pairs; turn returns the number per second.
type subject struct {
	name string
	turn func(ctx context.Context) (float64, error)
}

// newSubjects returns redis-benchmark, the bare loop, lockbench's driver and the commands of opt.
func newSubjects(server *servers.Server, opt options) ([]subject, error) {
	benchmark, err := exec.LookPath("redis-benchmark")
	if err != nil {
		return nil, fmt.Errorf("%w; hint: install the package of tools that comes with redis-server", err)
	}
	b := &bench{server: server, options: opt, program: benchmark}
	subjects := []subject{{"redis-benchmark", b.redisBenchmark}, {"bare loop", b.bareLoop}, {"unrecorded", b.unrecorded}, {"recorded", b.recorded}}
	for _, c := range opt.Commands {
		name, line, _ := strings.Cut(c, "=")
		subjects = append(subjects, subject{name, func(ctx context.Context) (float64, error) {
			return b.command(ctx, strings.Fields(line))
		}})
	}
	return subjects, nil
}

// bench is the state that the turns of all subjects share.
type bench struct {
	server  *servers.Server
	options options
	program string // path of redis-benchmark
}

// redisBenchmark runs the two commands one after the other, since the program knows no pairs: a
// pair takes as long as one of each.
//
// Each SET finds its key free. The keys to delete are drawn at random from four times as many
// keys as deletes, so one in eight has been deleted already: that flatters this subject a little.
func (b *bench) redisBenchmark(ctx context.Context) (float64, error) {
	client := redis.NewClient(b.server.Options())
	defer client.Close()
	sha, err := client.ScriptLoad(ctx, compareAndDelete).Result()
	if err != nil {
		return 0, err
	}
	sets, err := b.rate(ctx, 1_000_000_000, "SET", "pair:__rand_int__", token, "NX", "PX", strconv.Itoa(leaseMillis))
	if err != nil {
		return 0, err
	}
	keys := 4 * b.options.Requests
	if err := refill(ctx, client, keys); err != nil {
		return 0, err
	}
	deletes, err := b.rate(ctx, keys, "EVALSHA", sha, "1", "pair:__rand_int__", token)
	if err != nil {
		return 0, err
	}
	return 1 / (1/sets + 1/deletes), client.FlushAll(ctx).Err() // the server is our own
}

// refill leaves keys pair:000000000000 and so on, and no others, on our server.
func refill(ctx context.Context, client *redis.Client, keys int) error {
	if err := client.FlushAll(ctx).Err(); err != nil {
		return err
	}
	const batch = 10_000
	for from := 0; from < keys; from += batch {
		_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := from; i < min(keys, from+batch); i++ {
				p.Set(ctx, fmt.Sprintf("pair:%012d", i), token, leaseMillis*time.Millisecond)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rate returns the requests per second of one command.
func (b *bench) rate(ctx context.Context, keys int, command ...string) (float64, error) {
	args := []string{"-s", b.server.Options().Addr, "-c", strconv.Itoa(b.options.Clients),
		"-n", strconv.Itoa(b.options.Requests), "-r", strconv.Itoa(keys), "--csv"}
	out, err := exec.CommandContext(ctx, b.program, append(args, command...)...).Output()
	if err != nil {
		return 0, err
	}
	rows, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
	if err != nil || len(rows) == 0 || len(rows[len(rows)-1]) < 2 {
		return 0, fmt.Errorf("cannot read its output %.100q: %w", out, err)
	}
	return strconv.ParseFloat(rows[len(rows)-1][1], 64)
}

// bareLoop runs pairs in one goroutine per client, each on a key of its own, with go-redis's
// defaults.
func (b *bench) bareLoop(ctx context.Context) (float64, error) {
	opt := b.server.Options()
	opt.Dialer, opt.PoolSize = nil, b.options.Clients
	client := redis.NewClient(opt)
	defer client.Close()
	script := redis.NewScript(compareAndDelete)
	if err := script.Load(ctx, client).Err(); err != nil {
		return 0, err
	}
	var (
		pairs  atomic.Int64
		stop   atomic.Bool
		failed atomic.Pointer[error]
		all    sync.WaitGroup
	)
	start := time.Now()
	defer time.AfterFunc(b.options.Duration, func() { stop.Store(true) }).Stop()
	for i := range b.options.Clients {
		all.Go(func() {
			n, err := repeat(ctx, &stop, func() error { return pair(ctx, client, script, "own:"+strconv.Itoa(i)) })
			pairs.Add(n)
			if err != nil {
				failed.Store(&err)
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(pairs.Load()) / time.Since(start).Seconds(), nil
}

// repeat calls step until stop is set, and returns the number of calls.
func repeat(ctx context.Context, stop *atomic.Bool, step func() error) (n int64, err error) {
	for !stop.Load() && ctx.Err() == nil {
		if err := step(); err != nil {
			return n, err
		}
		n++
	}
	return n, ctx.Err()
}

// pair takes and frees the lock on key once.
func pair(ctx context.Context, client *redis.Client, script *redis.Script, key string) error {
	ok, err := client.SetNX(ctx, key, token, leaseMillis*time.Millisecond).Result()
	if err == nil && !ok {
		err = fmt.Errorf("key %s is taken", key)
	}
	if err != nil {
		return err
	}
	return script.EvalSha(ctx, client, []string{key}, token).Err()
}

// command runs a program and returns the grants per second in its result.
func (b *bench) command(ctx context.Context, words []string) (float64, error) {
	dir, err := os.MkdirTemp("", "pairs")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	out := dir + "/result.json"
	for i := range words {
		words[i] = strings.NewReplacer("{redis}", b.server.Address(), "{out}", out).Replace(words[i])
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, text)
	}
	return grantsPerSecond(out)
}

// grantsPerSecond reads a lockbench result with one run in it.
func grantsPerSecond(path string) (float64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	var result struct {
		Runs []struct {
			GrantsPerS float64 `json:"grants_per_s"`
		} `json:"runs"`
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return 0, err
	}
	if len(result.Runs) != 1 || result.Runs[0].GrantsPerS <= 0 {
		return 0, fmt.Errorf("%s holds no single run with grants; hint: name one design and one workload", path)
	}
	return result.Runs[0].GrantsPerS, nil
}
