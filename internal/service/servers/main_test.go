package servers_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/internal/service/servers"
)

// helperEnv makes the test binary a process that starts a private server, reports
// it and then waits to be killed.
const helperEnv = "LOCKBENCH_TEST_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(helperEnv) != "" {
		startAndHang()
	}
	servers.SilenceClients()
	// After failed dials go-redis tries on in the background, and notices that its
	// client was closed within a second.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

func startAndHang() {
	s, err := servers.StartPrivate(context.Background())
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(s.Address())
	select {}
}
