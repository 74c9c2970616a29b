// Package until waits in tests, by asking again: on the wall clock every few
// milliseconds; in a testing/synctest bubble that costs no time at all.
package until

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	interval = 10 * time.Millisecond
	// most is far more than a healthy run needs, because machines that run
	// tests are busy.
	most = 30 * time.Second
)

// True waits for a condition; what says what it is that did not happen.
func True(t *testing.T, what string, condition func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), interval, most, true,
		func(context.Context) (bool, error) { return condition(), nil })
	require.NoError(t, err, "still waiting: %s", what)
}

// Passes waits for a check to return nil, and fails with its last error.
func Passes(t *testing.T, check func(ctx context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), interval, most, true,
		func(ctx context.Context) (bool, error) {
			last = check(ctx)
			return last == nil, nil
		})
	require.NoError(t, err, "still waiting: %v", last)
}
