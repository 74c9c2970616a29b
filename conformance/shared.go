package conformance

import "context"

// shared is a value of a run that the first case that needs it creates. Other cases wait for it
// meanwhile. The lock is a channel because a case stops waiting when its time is over.
type shared[T any] struct {
	lock  chan struct{} // has an element while a case uses the fields below
	value T
	made  bool
}

func newShared[T any]() *shared[T] { return &shared[T]{lock: make(chan struct{}, 1)} }

// get returns the value. If there is none, it calls create, and keeps the result unless it is an
// error, after which the next case tries again.
func (v *shared[T]) get(ctx context.Context, create func(context.Context) (T, error)) (T, error) {
	select {
	case v.lock <- struct{}{}:
		defer func() { <-v.lock }()
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
	if v.made {
		return v.value, nil
	}
	value, err := create(ctx)
	if err == nil {
		v.value, v.made = value, true
	}
	return value, err
}
