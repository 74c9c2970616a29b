package versions

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// Concurrent calls of Do with one key share one call and its results. In a synctest bubble the
// waiting callers are durably blocked.
func TestDoSharesCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crd := &CRD{}
		errFailed := errors.New("failed")
		var calls atomic.Int64
		release := make(chan struct{})
		results := make(chan error, 4)
		for _, key := range []string{"a", "a", "a", "b"} {
			go func() {
				_, err := crd.Do(key, func() ([]byte, error) {
					calls.Add(1)
					<-release
					return nil, errFailed
				})
				results <- err
			}()
		}
		synctest.Wait()
		require.EqualValues(t, 2, calls.Load())
		close(release)
		for range 4 {
			require.ErrorIs(t, <-results, errFailed)
		}
		data, err := crd.Do("a", func() ([]byte, error) { return []byte("x"), nil })
		require.NoError(t, err)
		require.Equal(t, "x", string(data), "a finished call is not shared")
	})
}
