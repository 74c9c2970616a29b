package memstore

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{StartRevision: 10})
		for _, key := range []string{"a/1", "a/2"} {
			_, err := s.Update(key, func(*Record) (*Draft, error) { return &Draft{RevisionOffset: -1}, nil })
			require.NoError(t, err)
			time.Sleep(time.Minute)
		}
		require.Equal(t, 2*time.Minute, s.Age(11))
		require.Equal(t, time.Minute, s.Age(12))
		require.Zero(t, s.Age(13), "a future revision")
		require.Equal(t, time.Duration(math.MaxInt64), s.Age(10), "a revision before the history")
	})
}
