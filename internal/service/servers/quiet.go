package servers

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// SilenceClients disables go-redis's own log to standard error for the whole
// process: go-redis also returns every error that it logs. Programs call it
// before they open the first client.
func SilenceClients() { redis.SetLogger(silent{}) }

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
