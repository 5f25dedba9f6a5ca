//go:build unix

package postgrestest

import (
	"errors"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lockbench/lockbench/internal/service/postgres"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// start starts a private cluster, which stops when t ends, and returns the configuration to connect to it. Without
// PostgreSQL's programs t is skipped, or fails if servertest.Required is set.
func start(t *testing.T) *pgx.ConnConfig {
	t.Helper()
	cluster, err := postgres.Start(t.Context())
	if errors.Is(err, postgres.ErrNoProgram) && os.Getenv(servertest.Required) != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	config, err := pgx.ParseConfig(cluster.DSN())
	if err != nil {
		t.Fatal(err)
	}
	return config
}
