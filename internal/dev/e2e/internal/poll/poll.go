// Package until waits in tests by asking again, on the wall clock and on the
// virtual time of a testing/synctest bubble alike: soon at first and then ever
// less often, so that minutes of virtual time are not thousands of requests.
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
	// timeout is more than the longest back-off of a client (a reflector waits for
	// up to a minute), and far more than a healthy run needs on a busy machine.
	timeout = 2 * time.Minute
)

// Until waits for a condition; what says what it is that did not happen.
func Until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	UntilNoError(t, func(context.Context) error {
		if condition() {
			return nil
		}
		return errors.New(what)
	})
}

// UntilNoError waits for a check to return nil, in a cleanup too. After two minutes it fails the
// test with the check's last error.
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
			require.NoError(t, err, "waited in vain")
		case <-time.After(pause):
		}
	}
}
