package servers

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// SilenceClients keeps go-redis from writing its own log to standard error, for
// the whole process: every error it logs it returns too. For programs, to be
// called before the first client is opened.
func SilenceClients() { redis.SetLogger(silent{}) }

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
