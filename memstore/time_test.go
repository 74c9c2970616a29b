package memstore_test

import (
	"fmt"
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
		// Ten minutes have passed. Writes 1 to 6 happened five minutes ago, or longer.
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

		time.Sleep(time.Hour)
		_, err = c.Next(make([]*memstore.Event, 1))
		require.ErrorIs(t, err, memstore.ErrCompacted, "though nobody else has looked at the store meanwhile")
		exact, watchFloor = s.Floors()
		require.Equal(t, s.Revision(), exact)
		require.Equal(t, s.Revision(), watchFloor)
		_, err = s.ViewAt(s.Revision())
		require.NoError(t, err, "the present never expires")
		n, err := watch(t, s, "a/", s.Revision()).Next(make([]*memstore.Event, 1))
		require.NoError(t, err)
		require.Zero(t, n)
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

// TestForkAcrossBubbles: what was made outside is forked inside, keeps its history there for as long
// as its age says on the bubble's clock, and the fork is forked outside again.
func TestForkAcrossBubbles(t *testing.T) {
	fixture := memstore.New(memstore.Options{})
	put(t, fixture, "a/x", "1")
	put(t, fixture, "a/x", "2")
	outside := watch(t, fixture, "a/", fixture.Revision())
	wake := outside.Ready()

	var inside *memstore.Store
	for range 2 { // every bubble has a fork of its own
		synctest.Test(t, func(t *testing.T) {
			inside = fixture.Fork()
			_, watchFloor := inside.Floors()
			require.Equal(t, memstore.DefaultStartRevision, watchFloor, "its history is not thirty years old")
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
			require.Equal(t, memstore.DefaultStartRevision+2, watchFloor, "five minutes have passed for two of the three")
		})
	}
	require.False(t, isClosed(wake), "forks do not wake the original's cursors")

	again := inside.Fork()
	_, watchFloor := again.Floors()
	require.Equal(t, memstore.DefaultStartRevision+2, watchFloor, "the leap to the present is not an age")
	put(t, again, "a/x", "4")
	put(t, fixture, "a/x", "5")
	require.True(t, isClosed(wake))
	require.Equal(t, "3", string(inside.View().Get("a/x").Data))
}
