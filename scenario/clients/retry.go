package clients

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// processQueue calls do for each item of a queue and requeues it with a back-off if do fails, as
// controllers do. It returns when the queue is shut down.
func processQueue(ctx context.Context, queue workqueue.TypedRateLimitingInterface[string], do func(ctx context.Context, name string) error) {
	for {
		name, down := queue.Get()
		if down {
			return
		}
		if err := do(ctx, name); err != nil {
			queue.AddRateLimited(name)
		} else {
			queue.Forget(name)
		}
		queue.Done(name)
	}
}

// newQueue returns a queue that is shut down when ctx is done.
func newQueue(ctx context.Context) workqueue.TypedRateLimitingInterface[string] {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	context.AfterFunc(ctx, queue.ShutDown)
	return queue
}

// retryDelay is the time between two attempts of operations without a back-off.
const retryDelay = time.Second

// sleep waits for d and returns false if ctx is done before.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// maxAttempts is the number of attempts of retryOnError.
const maxAttempts = 5

// retryOnError calls do until it succeeds, at most maxAttempts times, with growing pauses.
func retryOnError(ctx context.Context, do func(context.Context) error) error {
	var err error
	for n := range maxAttempts {
		if err = do(ctx); err == nil || !sleep(ctx, time.Duration(n+1)*retryDelay) {
			return err
		}
	}
	return fmt.Errorf("gave up: %w", err)
}

// runAsync runs f in a goroutine and returns a channel that is closed when f returns.
func runAsync(f func()) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f()
	}()
	return ended
}
