package servers

import (
	"context"
	"errors"
)

// Choose returns the server at url, when url is not empty; else a private one,
// when PATH has a program for it; else the embedded one. A url that does not work
// is an error: nobody wants another server measured instead.
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
