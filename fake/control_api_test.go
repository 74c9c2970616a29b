package fakeapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// controlClient is a client of the control API.
type controlClient struct {
	*testing.T
	srv *fakeapi.Server
}

// call sends a request and returns the body of the response, which must have the code.
func (r controlClient) call(want int, method, path, body string) string {
	r.Helper()
	code, _, response := send(r.T, r.srv, method, "/fakeapi/v1/"+path, "", []byte(body))
	require.Equal(r, want, code, "%s", response)
	return string(response)
}

// getJSON reads a path as JSON.
func (r controlClient) getJSON(path string, into any) {
	r.Helper()
	require.NoError(r, json.Unmarshal([]byte(r.getAs("application/json", path)), into))
}

// getAs reads a path in a media type.
func (r controlClient) getAs(media, path string) string {
	r.Helper()
	request, err := http.NewRequestWithContext(r.Context(), "GET", r.srv.URL()+"/fakeapi/v1/"+path, nil)
	require.NoError(r, err)
	request.Header.Set("Accept", media)
	response, err := r.srv.Client().Do(request)
	require.NoError(r, err)
	defer func() { _ = response.Body.Close() }()
	require.True(r, strings.HasPrefix(response.Header.Get("Content-Type"), media))
	body, err := io.ReadAll(response.Body)
	require.NoError(r, err)
	return string(body)
}

func newControlClient(t *testing.T, opts ...fakeapi.Option) controlClient {
	t.Helper()
	return controlClient{t, fakeapi.Start(t, append(opts, fakeapi.WithInMemoryNetwork(), fakeapi.WithControlAPI())...)}
}

// Rules are added, listed, applied and removed.
func TestControlFaults(t *testing.T) {
	c := newControlClient(t)
	const busy, lost = `busy: when verb(list) && first(1) do status(429)`, `lost: when verb(get) do status(410)`
	require.Equal(t, busy+"\n"+lost+"\n", c.call(201, "POST", "faults", busy+"  # a comment\n\n"+lost))
	require.Equal(t, busy+"\n"+lost+"\n", c.call(200, "GET", "faults", ""))
	var got struct{ Rules []struct{ Name, Rule string } }
	c.getJSON("faults", &got)
	require.Equal(t, []struct{ Name, Rule string }{{"busy", busy}, {"lost", lost}}, got.Rules)

	code, _, _ := send(t, c.srv, "GET", "/api/v1/pods", "", nil)
	require.Equal(t, 429, code)
	require.Equal(t, "busy: before list pods: status(429)\n", c.call(200, "GET", "hits", ""))
	var hits struct {
		Hits []struct {
			Seq                                        int
			Rule, Phase, Operation, Path, Missed, Text string
		}
	}
	c.getJSON("hits", &hits)
	require.Len(t, hits.Hits, 1)
	require.Equal(t, "busy", hits.Hits[0].Rule)
	require.Equal(t, "list pods", hits.Hits[0].Operation)
	require.Equal(t, "/api/v1/pods", hits.Hits[0].Path)

	require.Empty(t, c.call(204, "DELETE", "faults/busy", ""))
	require.Equal(t, lost+"\n", c.call(200, "GET", "faults", ""))
	require.Contains(t, c.call(404, "DELETE", "faults/busy", ""), `faults \"busy\" not found`)
	c.call(204, "DELETE", "faults", "")
	require.Empty(t, c.call(200, "GET", "faults", ""))
	c.getJSON("faults", &got)
	require.Empty(t, got.Rules)
}

// An invalid rule returns a Status with line and column, and no rule is added. Rules do not apply
// to the control API itself.
func TestControlErrors(t *testing.T) {
	c := newControlClient(t)
	for body, want := range map[string]string{
		"when verb(list) do status(429)\nwhen verb(lst) do drop": `fault rule, line 2, column 11: unknown verb`,
		"when always do explode":                                 `fault rule, line 1, column 16: unknown effect \"explode\"`,
		"when verb(get) do drop":                                 "drop can be applied in: stream",
		"":                                                       "the body has no fault rule",
		"# nothing":                                              "the body has no fault rule",
	} {
		response := c.call(400, "POST", "faults", body)
		var status metav1.Status
		require.NoError(t, json.Unmarshal([]byte(response), &status))
		require.Equal(t, metav1.StatusReasonBadRequest, status.Reason)
		require.Contains(t, response, want)
	}
	require.Contains(t, c.call(413, "POST", "faults", strings.Repeat("#", 2<<20)), "limit is 1048576")
	require.Empty(t, c.call(200, "GET", "faults", ""))

	c.call(201, "POST", "faults", "all: when always do status(500)")
	require.Contains(t, c.call(405, "PUT", "faults", ""), "MethodNotAllowed")
	require.Contains(t, c.call(405, "GET", "compact", ""), "MethodNotAllowed")
	require.Contains(t, c.call(404, "GET", "unknown", ""), "NotFound")
	c.call(204, "DELETE", "faults/all", "")

	code, _, _ := send(t, fakeapi.Start(t, fakeapi.WithInMemoryNetwork()), "GET", "/fakeapi/v1/faults", "", nil)
	require.Equal(t, 404, code, "the control API is disabled by default")
}

// Snapshots have names and are restored with or without a bump.
func TestControlSnapshots(t *testing.T) {
	c := newControlClient(t, fakeapi.WithObjects(configMap("a", "0")))
	maps := kubernetes.NewForConfigOrDie(c.srv.RESTConfig()).CoreV1().ConfigMaps("default")
	at := c.srv.ResourceVersion()
	require.Equal(t, "before at "+at+"\n", c.call(201, "POST", "snapshots/before", ""))
	setValue(t, maps, "1")
	c.call(201, "POST", "snapshots/after", "")
	require.Equal(t, fmt.Sprintf("after at %s\nbefore at %s\n", c.srv.ResourceVersion(), at), c.call(200, "GET", "snapshots", ""))

	c.call(204, "POST", "snapshots/before/restore", "")
	require.Equal(t, "0", getValue(t, maps, ""))
	require.Equal(t, at, c.srv.ResourceVersion())
	c.call(204, "POST", "snapshots/after/restore?bump=1000", "")
	require.Equal(t, "1", getValue(t, maps, ""))
	require.Greater(t, parseVersion(t, c.srv.ResourceVersion()), parseVersion(t, at)+1000)

	require.Contains(t, c.call(400, "POST", "snapshots/after/restore?bump=-1", ""), "bump: ")
	require.Contains(t, c.call(400, "POST", "snapshots/after/restore?bump=18446744073709551615", ""), "exceeds the highest resourceVersion")
	c.call(204, "DELETE", "snapshots/after", "")
	c.call(404, "DELETE", "snapshots/after", "")
	require.Contains(t, c.call(404, "POST", "snapshots/after/restore", ""), `snapshots \"after\" not found`)
}

// The dump of a server can be loaded into another one.
func TestControlDump(t *testing.T) {
	c := newControlClient(t, fakeapi.WithObjects(configMap("a", "0")))
	dump := c.call(200, "GET", "dump", "")
	want, err := c.srv.Dump()
	require.NoError(t, err)
	require.Equal(t, want, dump)
	other := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithYAML(dump))
	require.Equal(t, "0", getValue(t, kubernetes.NewForConfigOrDie(other.RESTConfig()).CoreV1().ConfigMaps("default"), ""))
	require.Contains(t, c.call(405, "POST", "dump", ""), "MethodNotAllowed")
}

// The requests are listed with their codes, up to a limit. Watches and blocked requests are listed
// from their start.
func TestControlRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newControlClient(t)
		c.call(201, "POST", "faults", "when verb(get) do hang\nwhen verb(delete) do reset")
		for range 998 {
			send(t, c.srv, "GET", "/livez", "", nil)
		}
		w, err := kubernetes.NewForConfigOrDie(c.srv.RESTConfig()).CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "1000"})
		require.NoError(t, err)
		defer w.Stop()
		send(t, c.srv, "GET", "/nonsense?a=b", "", nil)
		send(t, c.srv, "GET", "/api/v1/namespaces/default/pods?limit=no", "", nil)
		go func() {
			response, err := c.srv.Client().Get(c.srv.URL() + "/api/v1/namespaces/default/pods/p")
			if err == nil {
				_ = response.Body.Close()
			}
		}()
		synctest.Wait()

		var got struct {
			Requests []struct {
				Seq, Code               int
				Method, Path, UserAgent string
			}
		}
		c.getJSON("requests", &got)
		require.Len(t, got.Requests, 1000)
		require.Equal(t, 3, got.Requests[0].Seq)
		lines := strings.Split(strings.TrimSpace(c.call(200, "GET", "requests", "")), "\n")
		require.Len(t, lines, 1000)
		require.Equal(t, `200 GET /livez "Go-http-client/1.1"`, lines[0])
		require.Regexp(t, `^200 GET /api/v1/pods\?resourceVersion=1000&watch=true "\S+/`, lines[996])
		require.Equal(t, []string{
			`404 GET /nonsense?a=b "Go-http-client/1.1"`,
			`400 GET /api/v1/namespaces/default/pods?limit=no "Go-http-client/1.1"`,
			`  0 GET /api/v1/namespaces/default/pods/p "Go-http-client/1.1"`,
		}, lines[997:])
	})
}

// The timeline is an HTML page if the client accepts one.
func TestControlTimelinePage(t *testing.T) {
	c := newControlClient(t)
	send(t, c.srv, "GET", "/api/v1/pods?limit=3", "", nil)
	page := c.getAs("text/html", "timeline")
	require.True(t, strings.HasPrefix(page, "<!doctype html>"))
	require.Contains(t, page, `<td class="path">/api/v1/pods?limit=3</td>`)
	require.NotContains(t, page, "/fakeapi/v1/", "requests to the control API")
}

func TestControlCompact(t *testing.T) {
	c := newControlClient(t, fakeapi.WithObjects(configMap("a", "0")))
	maps := kubernetes.NewForConfigOrDie(c.srv.RESTConfig()).CoreV1().ConfigMaps("default")
	past := c.srv.ResourceVersion()
	setValue(t, maps, "1")
	firstEvent := func() string { // of a watch that does not end before it, however busy the machine is
		response := openWatch(t, t.Context(), c.srv, "/api/v1/configmaps?watch=true&resourceVersion="+past)
		line, err := bufio.NewReader(response.Body).ReadString('\n')
		require.NoError(t, err)
		return line
	}
	c.call(204, "POST", "compact", "")
	require.Contains(t, firstEvent(), "MODIFIED")
	c.call(204, "POST", "forget-history", "")
	require.Contains(t, firstEvent(), "too old resource version")
	c.call(204, "POST", "run-controllers", "")
}
