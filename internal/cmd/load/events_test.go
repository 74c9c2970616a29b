package load

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A watch that ends is not counted as an event.
func TestReceivedCountsEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &received{done: make(chan error, 1)}
		require.True(t, r.event(nil))
		ended := errors.New("the watch ended")
		require.False(t, r.event(ended))
		require.ErrorIs(t, r.wait(t.Context(), 2), ended)
		require.EqualValues(t, 1, r.events.Load())
	})
}
