package servers

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
)

// ErrNotOurs is the error of [Server.Usage] if other clients may have used the server.
var ErrNotOurs = errors.New("the server is not ours alone")

// Usage asks a private server for its processor time so far, in user and system mode and over
// all its threads. For other servers, which may have other clients or share their process with
// ours, it returns [ErrNotOurs].
func (s *Server) Usage(ctx context.Context) (design.Usage, error) {
	if s.kind != design.Private {
		return design.Usage{}, ErrNotOurs
	}
	client := s.single()
	defer client.Close()
	info, err := serverInfo(ctx, client)
	if err != nil {
		return design.Usage{}, err
	}
	cpu, err := processorTime(ctx, client)
	return design.Usage{RunID: info["run_id"], CPU: cpu}, err
}

func processorTime(ctx context.Context, client *redis.Client) (time.Duration, error) {
	info, err := infoSection(ctx, client, "cpu")
	if err != nil {
		return 0, err
	}
	var sum float64
	for _, field := range []string{"used_cpu_user", "used_cpu_sys"} {
		seconds, err := strconv.ParseFloat(info[field], 64)
		if err != nil {
			return 0, fmt.Errorf("INFO cpu tells %s as %q: %w", field, info[field], err)
		}
		sum += seconds
	}
	return time.Duration(sum * float64(time.Second)), nil
}
