package timeline_test

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/fake/internal/timeline"
)

// A reset removes what has ended, also after the ring was full. The rest is recorded further, and
// numbers and orders go on.
func TestReset(t *testing.T) {
	for _, before := range []int{0, 3, timeline.MaxExchanges, timeline.MaxExchanges + 7} {
		hold, held := make(chan struct{}), make(chan struct{})
		r, send := newTestRecorder(func(w http.ResponseWriter, request *http.Request) {
			if request.URL.Path == pods {
				isStream(addedEvent)(w, request)
				held <- struct{}{}
				<-hold
				isStream(addedEvent, addedEvent)(w, request)
			}
		})
		for i := range before {
			send("GET", fmt.Sprintf("/%d", i), "")
		}
		var done sync.WaitGroup
		done.Go(func() { send("GET", watchPath, "") })
		<-held
		send("GET", "/last", "")
		order := r.Order()
		r.AddNote(timeline.Note{Text: "a"})
		require.Greater(t, r.Order(), order)

		r.Reset()
		got := r.Timeline()
		require.Len(t, got.Exchanges, 1)
		require.Equal(t, watchPath, got.Exchanges[0].Path)
		require.Empty(t, got.Exchanges[0].Frames)
		require.Empty(t, got.Notes)
		require.Zero(t, got.ExchangesDropped)
		close(hold)
		done.Wait()
		got = r.Timeline()
		require.Len(t, got.Exchanges[0].Frames, 2)
		require.Zero(t, got.Exchanges[0].FramesDropped)
		require.EqualValues(t, before+1, got.Exchanges[0].Seq)

		for i := range timeline.MaxExchanges + 2 {
			send("GET", fmt.Sprintf("/n%d", i), "")
		}
		got = r.Timeline()
		require.Len(t, got.Exchanges, timeline.MaxExchanges)
		require.EqualValues(t, 3, got.ExchangesDropped)
		require.Equal(t, "/n2", got.Exchanges[0].Path)
		require.EqualValues(t, before+2+3, got.Exchanges[0].Seq)
		r.Reset()
		require.Empty(t, r.Timeline().Exchanges)
		require.Zero(t, r.Timeline().ExchangesDropped)
	}
}

// RequestsSince has the exchanges after an order without their bodies and secrets.
func TestRequestsSince(t *testing.T) {
	r, send := newTestRecorder(func(w http.ResponseWriter, request *http.Request) { _, _ = io.Copy(w, request.Body) })
	send("GET", "/first", "")
	order := r.Order()
	require.Empty(t, r.RequestsSince(order))
	send("POST", pods+"?access_token=hidden", "{}")
	send("GET", "/last", "")
	got := r.RequestsSince(order)
	require.Len(t, got, 2)
	require.Equal(t, "create", got[0].Verb)
	require.NotContains(t, got[0].Path, "hidden")
	require.Equal(t, http.StatusOK, got[0].StatusCode)
	require.Zero(t, got[0].Request.Size+got[0].Response.Size)
	require.Equal(t, got[1:], r.RequestsSince(got[0].Order))
	require.Len(t, r.RequestsSince(0), 3)
}

// Changed reports the beginning of a response and the end of an exchange, and nothing else.
func TestChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := make(chan struct{})
		r, send := newTestRecorder(func(w http.ResponseWriter, _ *http.Request) {
			next <- struct{}{}
			w.WriteHeader(http.StatusOK)
			next <- struct{}{}
		})
		changed := func(c <-chan struct{}) bool {
			synctest.Wait()
			select {
			case <-c:
				return true
			default:
				return false
			}
		}
		first := r.Changed()
		require.Equal(t, first, r.Changed())
		go send("GET", "/", "")
		require.False(t, changed(first))
		<-next
		require.True(t, changed(first))
		second := r.Changed()
		require.False(t, changed(second))
		<-next
		require.True(t, changed(second))
		require.False(t, changed(r.Changed()))
	})
}
