package servers

import (
	"context"
	"errors"
)

// Choose returns the server at url, if url is not empty; else a private one, if
// PATH has a program for it; else the embedded one. If the server at url does not
// work it fails, because no other server should be measured in its place.
func Choose(ctx context.Context, url string) (*Server, error) {
	if url != "" {
		return Connect(ctx, url)
	}
	s, err := StartPrivate(ctx)
	if errors.Is(err, ErrNoProgram) {
		return StartEmbedded()
	}
	return s, err
}
