package clients

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// processQueue carries out what is in a queue, one after the other, and what failed again
// after a while, as controllers do. It returns when the queue is shut down.
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

// newQueue makes a queue that is shut down when ctx ends.
func newQueue(ctx context.Context) workqueue.TypedRateLimitingInterface[string] {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	context.AfterFunc(ctx, queue.ShutDown)
	return queue
}

// retryDelay is the time between two attempts of what has no back-off of its own.
const retryDelay = time.Second

// sleep waits for d; false means that ctx has ended.
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

// maxAttempts is how often what has no back-off of its own is tried.
const maxAttempts = 5

// retryOnError does something up to five times, with longer and longer pauses, until it
// goes well.
func retryOnError(ctx context.Context, do func(context.Context) error) error {
	var err error
	for n := range maxAttempts {
		if err = do(ctx); err == nil || !sleep(ctx, time.Duration(n+1)*retryDelay) {
			return err
		}
	}
	return fmt.Errorf("gave up: %w", err)
}
