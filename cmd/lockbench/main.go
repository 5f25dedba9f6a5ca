package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/lockbench/lockbench/internal/explore/bubble"
	"github.com/lockbench/lockbench/internal/explore/exploring"
)

func main() {
	bubble.Child(exploring.FindDesign) // in a process that explore started, this does not return
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	// The first signal ends the run in good order. Then signals have their usual effect
	// again, so that a second one aborts, and a second SIGQUIT prints the stacks of goroutines.
	context.AfterFunc(ctx, stop)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		// A closed terminal sends SIGHUP, often twice: the second one must not abort.
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	signal.Ignore(syscall.SIGPIPE) // a closed pipe must not end the run or lose its files
	os.Exit(execute(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
