package fakeapi_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// The timeline has what the test did to the server, between the requests.
func TestTimelineNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newControlClient(t, fakeapi.WithTokens(fakeapi.Token{Value: "admin", User: "ann", Groups: []string{"system:masters"}}))
		c.srv.Compact()
		sendWith(t, c.srv, "GET", "/version", "")
		time.Sleep(time.Second)
		require.NoError(t, c.srv.AddToken(fakeapi.Token{Value: "hidden", User: "bob"}))
		require.NoError(t, c.srv.ExpireToken("hidden"))
		require.NoError(t, c.srv.Restore(c.srv.Snapshot(), 7))
		c.srv.AddNote(fakeapi.Note{Source: "test", Text: "stop the leader\nand wait"})
		c.srv.AddNote(fakeapi.Note{Source: "test", Text: "no leader", Failed: true})
		require.Regexp(t, `^   \+0\.000s   \* server: Compact
   \+0\.000s #1 test/1 GET /version -> 200
   \+1\.000s   \* server: AddToken of user bob
   \+1\.000s   \* server: ExpireToken of user bob
   \+1\.000s   \* server: Snapshot
   \+1\.000s   \* server: Restore of resourceVersion \d+ with bump 7
   \+1\.000s   \* test: stop the leader
   \+1\.000s   \* test failed: no leader
$`, c.srv.Timeline().String())
		require.NotContains(t, c.srv.Timeline().String(), "hidden")
	})
}

// Actions of the control API are notes as well. The oldest notes are dropped.
func TestControlTimelineNotes(t *testing.T) {
	c := newControlClient(t)
	c.call(201, "POST", "faults", "busy: when verb(list) do status(503)")
	c.call(204, "DELETE", "faults/busy", "")
	c.call(204, "POST", "forget-history", "")
	var texts []string
	for _, n := range c.srv.Timeline().Notes {
		require.Equal(t, "server", n.Source)
		texts = append(texts, n.Text)
	}
	require.Equal(t, []string{"add fault busy: when verb(list) do status(503)", "remove fault busy", "ForgetHistory"}, texts)
	require.Contains(t, string(sendWith(t, c.srv, "GET", "/fakeapi/v1/timeline", "", "Accept", "application/json").body), `"source":"server","text":"ForgetHistory"`)

	for range 1001 {
		c.srv.AddNote(fakeapi.Note{Text: strings.Repeat("x", 5000)})
	}
	notes := c.srv.Timeline().Notes
	require.Len(t, notes, 1000)
	require.Len(t, notes[0].Text, 4096)

	without := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutTimeline())
	without.Compact()
	require.Empty(t, without.Timeline().Notes)
}
