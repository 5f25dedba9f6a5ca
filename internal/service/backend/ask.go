package backend

import "context"

// Asked returns the functions of a [design.Prompt] that asks on a connection, and opens another one after
// an error. The function end closes a connection.
func Asked[C any](connect func(context.Context) (C, error), ping func(context.Context, C) error, end func(C)) (ask func(context.Context) error, close func() error) {
	var conn C
	open := false
	close = func() error {
		if open {
			end(conn)
		}
		open = false
		return nil
	}
	return func(ctx context.Context) (err error) {
		if !open {
			if conn, err = connect(ctx); err != nil {
				return err
			}
			open = true
		}
		if err = ping(ctx, conn); err != nil {
			_ = close() // never fails
		}
		return err
	}, close
}
