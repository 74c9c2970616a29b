package memstore_test

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/memstore"
)

func TestIdleStoreTrimsHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{})
		for i := range 10 {
			put(t, s, "a/x", fmt.Sprint(i))
			time.Sleep(time.Minute)
		}
		// Ten minutes have passed. Writes 1 to 6 were at least five minutes ago.
		exact, watchFloor := s.Floors()
		require.Equal(t, memstore.Revision(1006), exact)
		require.Equal(t, memstore.Revision(1006), watchFloor)
		v, err := s.ViewAt(1006)
		require.NoError(t, err)
		require.Equal(t, "5", string(v.Get("a/x").Data))
		_, err = s.ViewAt(1005)
		require.ErrorIs(t, err, memstore.ErrCompacted)
		_, err = s.Watch("a/", 1005)
		require.ErrorIs(t, err, memstore.ErrCompacted)
		c := watch(t, s, "a/", 1006)
		for rev := memstore.Revision(1007); rev < 1010; rev++ { // one event expires each minute
			time.Sleep(time.Minute)
			exact, watchFloor = s.Floors()
			require.Equal(t, rev, exact)
			require.Equal(t, rev, watchFloor)
		}

		time.Sleep(time.Hour)
		_, err = c.Next(make([]*memstore.Event, 1))
		require.ErrorIs(t, err, memstore.ErrCompacted, "without other calls in the meantime")
		exact, watchFloor = s.Floors()
		require.Equal(t, s.Revision(), exact)
		require.Equal(t, s.Revision(), watchFloor)
		_, err = s.ViewAt(s.Revision())
		require.NoError(t, err, "the current revision does not expire")
		n, err := watch(t, s, "a/", s.Revision()).Next(make([]*memstore.Event, 1))
		require.NoError(t, err)
		require.Zero(t, n)
	})
}

// TestEachReadTrimsHistory tests that old events cannot be read from an idle store, whichever
// method is called first.
func TestEachReadTrimsHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{})
		put(t, s, "a/x", "1")
		put(t, s, "a/x", "2")
		time.Sleep(time.Hour)
		_, err := s.Fork().ViewAt(1001)
		require.ErrorIs(t, err, memstore.ErrCompacted)
		_, err = s.Fork().Watch("a/", 1001)
		require.ErrorIs(t, err, memstore.ErrCompacted)
		exact, watchFloor := s.Fork().Floors()
		require.Equal(t, memstore.Revision(1002), exact)
		require.Equal(t, memstore.Revision(1002), watchFloor)
	})
}

func TestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const never = time.Duration(math.MaxInt64)
		s := memstore.New(memstore.Options{StartRevision: 10})
		require.Equal(t, never, s.Age(10), "the revision of the empty store")
		require.Zero(t, s.Age(11), "a future revision")
		put(t, s, "a/1", "1")
		time.Sleep(time.Minute)
		backup := s.Snapshot()
		put(t, s, "a/2", "1")
		time.Sleep(time.Minute)
		require.Equal(t, 2*time.Minute, s.Age(11))
		require.Equal(t, time.Minute, s.Age(12))
		require.Zero(t, s.Age(13), "a future revision")
		require.Equal(t, never, s.Age(10), "a revision before the history")

		s.Restore(backup, 0)
		require.Equal(t, never, s.Age(11), "Restore removes the history")
		require.Zero(t, s.Age(12), "a future revision again")
	})
}

func TestNegativeLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{HistoryAge: -1, HistoryCount: -1, HistoryBytes: -1})
		for i := range memstore.DefaultHistoryCount + 10 {
			_, err := s.Update("a/x", func(*memstore.Record) (*memstore.Draft, error) {
				return &memstore.Draft{Data: fmt.Append(nil, i)}, nil
			})
			require.NoError(t, err)
		}
		time.Sleep(1000 * time.Hour)
		exact, watchFloor := s.Floors()
		require.Equal(t, memstore.DefaultStartRevision, exact)
		require.Equal(t, memstore.DefaultStartRevision, watchFloor)
	})
}

// TestForkAcrossBubbles forks a store into a bubble, where its history expires on the bubble's
// clock, and forks the fork outside again.
func TestForkAcrossBubbles(t *testing.T) {
	fixture := memstore.New(memstore.Options{})
	put(t, fixture, "a/x", "1")
	put(t, fixture, "a/x", "2")
	outside := watch(t, fixture, "a/", fixture.Revision())
	wake := outside.Ready()

	var inside *memstore.Store
	for range 2 { // every bubble has its own fork
		synctest.Test(t, func(t *testing.T) {
			inside = fixture.Fork()
			_, watchFloor := inside.Floors()
			require.Equal(t, memstore.DefaultStartRevision, watchFloor, "the history has not expired")
			time.Sleep(4 * time.Minute)

			c := watch(t, inside, "a/", memstore.DefaultStartRevision)
			buf := make([]*memstore.Event, 5)
			n, err := c.Next(buf)
			require.NoError(t, err)
			require.Equal(t, 2, n)

			done := make(chan struct{})
			go func() {
				defer close(done)
				n, err := c.Next(buf)
				for ; n == 0 && err == nil; n, err = c.Next(buf) {
					<-c.Ready()
				}
			}()
			synctest.Wait()
			put(t, inside, "a/x", "3")
			<-done

			time.Sleep(time.Minute)
			_, watchFloor = inside.Floors()
			require.Equal(t, memstore.DefaultStartRevision+2, watchFloor, "two of three events are five minutes old")
		})
	}
	require.False(t, isClosed(wake), "writes to forks do not wake cursors of the original")

	again := inside.Fork()
	_, watchFloor := again.Floors()
	require.Equal(t, memstore.DefaultStartRevision+2, watchFloor, "the change of clocks does not count")
	put(t, again, "a/x", "4")
	put(t, fixture, "a/x", "5")
	require.True(t, isClosed(wake))
	require.Equal(t, "3", string(inside.View().Get("a/x").Data))
}
