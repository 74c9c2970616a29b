package fakeapi_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// noteTexts returns the texts of the notes of the timeline.
func noteTexts(srv *fakeapi.Server) (texts []string) {
	for _, n := range srv.Timeline().Notes {
		texts = append(texts, n.Source+": "+n.Text)
	}
	return texts
}

// A reset removes rules and records, and restores a snapshot, so that running clients list again.
// The numbers of since go on, and open watches are still recorded.
func TestControlReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newControlClient(t, fakeapi.WithObjects(configMap("a", "0")))
		maps := kubernetes.NewForConfigOrDie(c.srv.RESTConfig()).CoreV1().ConfigMaps("default")
		c.call(201, "POST", "snapshots/before", "")
		stream := openWatch(t, t.Context(), c.srv, "/api/v1/configmaps?watch=1&resourceVersion="+c.srv.ResourceVersion())
		defer func() { _ = stream.Body.Close() }()
		go func() { _, _ = io.Copy(io.Discard, stream.Body) }()
		endpoints := openWatch(t, t.Context(), c.srv, "/api/v1/endpoints?watch=1&resourceVersion="+c.srv.ResourceVersion())
		defer func() { _ = endpoints.Body.Close() }()
		setUp := func() {
			c.call(201, "POST", "faults", "busy: when path(/livez) do status(503)")
			send(t, c.srv, "GET", "/livez", "", nil)
			setValue(t, maps, "1")
		}
		setUp()
		synctest.Wait()
		last := c.list("timeline")
		require.Len(t, last.Hits, 1)

		c.call(204, "POST", "reset?keep=faults,access", "")
		require.NotEmpty(t, c.srv.Faults().Rules())
		require.NotEmpty(t, c.srv.Access().Accesses)
		require.Empty(t, c.srv.Faults().Hits())
		line := c.srv.Timeline()
		require.Len(t, line.Exchanges, 2, "the watches")
		require.Empty(t, line.Exchanges[0].Frames)
		require.Zero(t, line.ExchangesDropped+line.Exchanges[0].FramesDropped)
		require.Equal(t, []string{"server: reset, which keeps faults, access"}, noteTexts(c.srv))
		setValue(t, maps, "2")
		synctest.Wait()
		require.Len(t, c.srv.Timeline().Exchanges[0].Frames, 1)

		setUp()
		_, header, _ := send(t, c.srv, "POST", "/fakeapi/v1/reset?snapshot=before", "", nil)
		synctest.Wait()
		require.Equal(t, "0", getValue(t, maps, ""))
		require.Greater(t, parseVersion(t, c.srv.ResourceVersion()), uint64(1000))
		require.Empty(t, c.srv.Faults().Rules())
		require.Empty(t, c.srv.Faults().Hits())
		require.Equal(t, []string{"server: reset with a restore of snapshot before with bump 1000"}, noteTexts(c.srv))
		after := c.list("requests?since=" + header.Get("Fakeapi-Next"))
		require.Len(t, after.Requests, 2, "those of getValue")
		require.Greater(t, after.Requests[0].Order, last.Next)
		require.Greater(t, after.Requests[0].Seq, 5)

		setUp()
		for query, want := range map[string]int{
			"snapshot=other": 404, "snapshot=": 400, "bump=5": 400, "snapshot=before&bump=x": 400, "keep=rules": 400, "all=1": 400,
			"snapshot=before&bump=18446744073709551615": 400,
		} {
			c.call(want, "POST", "reset?"+query, "")
		}
		require.Len(t, c.srv.Faults().Rules(), 1, "a reset that fails changes nothing")
		require.Equal(t, "1", getValue(t, maps, ""))
	})
}

// The rules of a test are removed by the name of the test.
func TestControlFaultsOfTest(t *testing.T) {
	c := newControlClient(t)
	c.call(201, "POST", "faults?test=one", "a: when verb(get) do status(500)\nrealisticLatency(1)")
	c.call(201, "POST", "faults?test=two", "a: when verb(get) do status(501)")
	c.call(201, "POST", "faults?test=one", "b: when verb(list) do status(502)")
	c.call(204, "DELETE", "faults?test=one", "")
	require.Equal(t, "a: when verb(get) do status(501)\n", c.call(200, "GET", "faults", ""))
	c.call(204, "DELETE", "faults?test=one", "")
	c.call(204, "DELETE", "faults?test=none", "")
	c.call(400, "DELETE", "faults?test=", "")
	c.call(400, "DELETE", "faults?tst=two", "")
	require.Len(t, c.srv.Faults().Rules(), 1)
	require.Equal(t, "server: add fault a: when verb(get) do status(500) of test one", noteTexts(c.srv)[0])
}

// Each action is one note of the timeline, with its parameters. Requests of the control API are not
// in the records.
func TestControlNotes(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithControlAPI(), fakeapi.WithTokens(fakeapi.Token{Value: "first", User: "ann"}))
	c := controlClient{t, srv}
	version := srv.ResourceVersion()
	for _, request := range [][2]string{
		{"POST compact", ""}, {"POST forget-history", ""}, {"POST run-controllers", ""},
		{"POST snapshots/s", ""}, {"POST snapshots/s/restore?bump=7", ""}, {"DELETE snapshots/s", ""},
		{"POST tokens", "second,bob"}, {"POST tokens/expire", "second"},
		{"POST faults", "lost: when verb(get) do reset"}, {"DELETE faults/lost", ""}, {"DELETE faults?test=x", ""}, {"DELETE faults", ""},
		{"POST notes", "stop the leader\n"}, {"DELETE access", ""}, {"POST forks/f", ""}, {"DELETE forks/f", ""},
		{"GET faults", ""}, {"GET hits", ""}, {"GET requests", ""}, {"GET timeline", ""}, {"GET access", ""}, {"GET kubeconfig", ""},
	} {
		method, path, _ := strings.Cut(request[0], " ")
		code, _, body := send(t, srv, method, "/fakeapi/v1/"+path, "", []byte(request[1]))
		require.Less(t, code, 300, "%s: %s", request[0], body)
	}
	got := noteTexts(srv)
	require.Regexp(t, `^server: Fork f at https://127\.0\.0\.1:\d+$`, got[14])
	got[14] = ""
	require.Equal(t, []string{
		"server: Compact", "server: ForgetHistory", "server: RunControllers",
		"server: Snapshot s at resourceVersion " + version, "server: Restore of snapshot s with bump 7", "server: remove snapshot s",
		"server: AddToken of user bob", "server: ExpireToken of user bob",
		"server: add fault lost: when verb(get) do reset", "server: remove fault lost", "server: remove the faults of test x", "server: remove all faults",
		"test: stop the leader", "server: ResetAccess", "", "server: close fork f",
	}, got)
	require.Empty(t, srv.Requests())
	require.Empty(t, srv.Access().Accesses)
	_, _, metrics := send(t, srv, "GET", "/metrics", "", nil)
	require.NotContains(t, string(metrics), "apiserver_request_total{")
	c.call(400, "POST", "notes", " ")
}

// What requests add is limited.
func TestControlLimits(t *testing.T) {
	c := newControlClient(t)
	c.call(201, "POST", "faults", strings.Repeat("when verb(delete) do status(500)\n", 999))
	require.Contains(t, c.call(400, "POST", "faults", "when verb(get) do reset\nwhen verb(list) do reset"), "the server has at most 1000 fault rules; remove some")
	c.call(201, "POST", "faults", "when verb(get) do reset")
	c.call(204, "DELETE", "faults", "")
	for i := range 1000 {
		c.call(201, "POST", fmt.Sprintf("snapshots/s%d", i), "")
	}
	require.Contains(t, c.call(400, "POST", "snapshots/other", ""), "at most 1000 snapshots")
	c.call(201, "POST", "snapshots/s7", "")
	c.call(204, "DELETE", "snapshots/s8", "")
	c.call(201, "POST", "snapshots/other", "")
	c.call(400, "POST", "snapshots/"+strings.Repeat("x", 254), "")
	c.call(400, "POST", "faults?test="+strings.Repeat("x", 254), "when verb(get) do reset")
}
