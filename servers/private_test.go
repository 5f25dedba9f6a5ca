package servers_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/servertest"
)

func TestPrivateServerAnswersAndIsGoneAfterClose(t *testing.T) {
	s := servertest.Start(t)
	client := redis.NewClient(s.Options())
	defer client.Close()
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Fatalf("ping: %v", err)
	}
	t.Log(s.Info())
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := client.Ping(t.Context()).Err(); err == nil {
		t.Error("the server answers after Close")
	}
}
