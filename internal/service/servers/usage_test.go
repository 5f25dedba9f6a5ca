package servers

import (
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"
)

func TestUsageIsOfOurServersOnly(t *testing.T) {
	embedded, err := StartEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = embedded.Close() })
	if _, err := embedded.Usage(t.Context()); !errors.Is(err, ErrNotOurs) {
		t.Errorf("usage of the embedded server: %v, want that nobody knows", err)
	}
	private, err := StartPrivate(t.Context())
	if errors.Is(err, ErrNoProgram) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = private.Close() })
	before, err := private.Usage(t.Context())
	if err != nil || before.CPU <= 0 || before.RunID == "" {
		t.Fatalf("usage %+v, error %v; want some", before, err)
	}
	client := redis.NewClient(private.Options())
	defer client.Close()
	for after := before; after.CPU <= before.CPU; {
		if err := client.Eval(t.Context(), "for i = 1, 1000 do redis.sha1hex('') end", nil).Err(); err != nil && !errors.Is(err, redis.Nil) {
			t.Fatal(err)
		}
		if after, err = private.Usage(t.Context()); err != nil || after.RunID != before.RunID || after.CPU < before.CPU {
			t.Fatalf("usage %+v after %+v, error %v; want more of the same server", after, before, err)
		}
	}
}
