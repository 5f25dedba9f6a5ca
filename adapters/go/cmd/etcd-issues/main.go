// Command etcd-issues shows two issues of the mutex of etcd's package concurrency. It is no adapter:
//
//	etcd-issues etcd://HOST:PORT
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	etcd "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := errors.Join(retried(ctx, "/lockbench-22082"), ended(ctx, "/lockbench-19597")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// connect connects, by way of an interceptor if it is not nil.
func connect(by grpc.UnaryClientInterceptor) (*etcd.Client, error) {
	c := etcd.Config{Endpoints: []string{strings.TrimPrefix(os.Args[1], "etcd://")}}
	if by != nil {
		c.DialOptions = append(c.DialOptions, grpc.WithChainUnaryInterceptor(by))
	}
	return etcd.New(c)
}

var errLost = errors.New("the reply is lost")

// retried shows issue 22082: the reply to an Unlock is lost, the session locks again, and the Unlock is
// called again.
func retried(ctx context.Context, key string) error {
	lose := false
	client, err := connect(func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		err := invoke(ctx, method, req, reply, conn, opts...)
		if lose && err == nil && strings.HasSuffix(method, "/DeleteRange") {
			lose = false
			return errLost
		}
		return err
	})
	if err != nil {
		return err
	}
	defer client.Close()
	session, err := concurrency.NewSession(client)
	if err != nil {
		return err
	}
	defer session.Close()
	first, second := concurrency.NewMutex(session, key), concurrency.NewMutex(session, key)
	if err := first.TryLock(ctx); err != nil {
		return err
	}
	lose = true
	if err := first.Unlock(ctx); !errors.Is(err, errLost) {
		return fmt.Errorf("unlock: %w", err)
	}
	if err := second.TryLock(ctx); err != nil {
		return err
	}
	again := first.Unlock(ctx)
	held, err := client.Txn(ctx).If(second.IsOwner()).Commit()
	if err == nil {
		fmt.Printf("22082: the Unlock of the first mutex, called again, says %v; the second mutex of the session holds the key: %t\n", again, held.Succeeded)
	}
	return err
}

// ended shows issue 19597: the session of a waiter ends while the holder keeps the key.
func ended(ctx context.Context, key string) error {
	client, err := connect(nil)
	if err != nil {
		return err
	}
	defer client.Close()
	holds, err := concurrency.NewSession(client)
	if err != nil {
		return err
	}
	defer holds.Close()
	waits, err := concurrency.NewSession(client)
	if err != nil {
		return err
	}
	holder, waiter := concurrency.NewMutex(holds, key), concurrency.NewMutex(waits, key)
	if err := holder.Lock(ctx); err != nil {
		return err
	}
	queue := client.Watch(ctx, key+"/", etcd.WithPrefix())
	said := make(chan error, 1)
	go func() { said <- waiter.Lock(ctx) }()
	<-queue // the waiter's key
	if err := waits.Close(); err != nil {
		return err
	}
	<-queue // which is deleted with its session
	<-waits.Done()
	const moment = 5 * time.Second
	select {
	case err := <-said:
		fmt.Printf("19597: the waiter is told when its session ends: %v\n", err)
		return holder.Unlock(ctx)
	case <-time.After(moment):
	}
	if err := holder.Unlock(ctx); err != nil {
		return err
	}
	fmt.Printf("19597: the waiter still waits %v after its session ended; when the holder unlocks, it is told: %v\n", moment, <-said)
	return nil
}
