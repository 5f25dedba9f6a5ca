package servers

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"
)

// serverInfo returns the fields of INFO server.
func serverInfo(ctx context.Context, client *redis.Client) (map[string]string, error) {
	return infoSection(ctx, client, "server")
}

// infoSection returns the fields of one section of INFO.
func infoSection(ctx context.Context, client *redis.Client, section string) (map[string]string, error) {
	text, err := client.Info(ctx, section).Result()
	if err != nil {
		return nil, err
	}
	return fieldsOf(text), nil
}

// fieldsOf reads the fields of an INFO.
func fieldsOf(text string) map[string]string {
	fields := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}

// versionOf returns product and version from INFO server. Valkey gives the Redis
// version it is compatible with as redis_version, and its own beside it.
func versionOf(info map[string]string) string {
	if v := info["valkey_version"]; v != "" {
		return "valkey " + v
	}
	if v := info["redis_version"]; v != "" {
		return "redis " + v
	}
	return "unknown version"
}
