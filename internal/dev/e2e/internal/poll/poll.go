// Package poll waits for conditions in tests by polling, on the real clock and on the virtual time
// of a testing/synctest bubble. The interval grows with each poll, so that minutes of virtual time
// do not cost thousands of requests.
package poll

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	firstInterval = 5 * time.Millisecond
	maxInterval   = time.Second
	// timeout is longer than the longest back-off of a client (a reflector waits for up to a
	// minute) and much longer than a passing test needs on a busy machine.
	timeout = 2 * time.Minute
)

// Until waits until condition returns true. After two minutes it fails the test; what describes the
// condition.
func Until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	UntilNoError(t, func(context.Context) error {
		if condition() {
			return nil
		}
		return errors.New(what)
	})
}

// UntilNoError waits until check returns nil. It may be called in a cleanup. After two minutes it
// fails the test with the check's last error.
func UntilNoError(t *testing.T, check func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), timeout)
	defer cancel()
	for pause := firstInterval; ; pause = min(pause*3/2, maxInterval) {
		err := check(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			require.NoError(t, err, "timed out")
		case <-time.After(pause):
		}
	}
}
