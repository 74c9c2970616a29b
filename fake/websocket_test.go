package fakeapi_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// dialWebSocket opens a WebSocket with subprotocols and an Accept header.
func dialWebSocket(t *testing.T, srv *fakeapi.Server, path, accept string, protocols ...string) (*websocket.Conn, error) {
	t.Helper()
	config, err := websocket.NewConfig("ws"+strings.TrimPrefix(srv.URL(), "http")+path, srv.URL())
	require.NoError(t, err)
	config.Protocol = protocols
	config.Header = http.Header{"Accept": {accept}}
	return config.DialContext(t.Context())
}

// readMessage reads the next event.
func readMessage(t *testing.T, ws *websocket.Conn) (kind string, object metav1.PartialObjectMetadata) {
	t.Helper()
	var text string // fails for a binary message
	require.NoError(t, ws.SetDeadline(time.Now().Add(time.Minute)))
	require.NoError(t, websocket.Message.Receive(ws, &text))
	require.True(t, strings.HasSuffix(text, "}\n"))
	event := struct {
		Type   string
		Object *metav1.PartialObjectMetadata
	}{Object: &object}
	require.NoError(t, json.Unmarshal([]byte(text), &event))
	return event.Type, object
}

// A watch over a WebSocket has a message for each event and ends like any other. The subprotocol is
// returned and has no effect.
func TestWatchOverWebSocket(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithoutSystemObjects(), fakeapi.WithObjects(configMap("a", "0")))
	maps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
	ws, err := dialWebSocket(t, srv, "/api/v1/configmaps?watch=1", "*/*", "base64.binary.k8s.io")
	require.NoError(t, err)
	require.Equal(t, []string{"base64.binary.k8s.io"}, ws.Config().Protocol)
	kind, object := readMessage(t, ws)
	require.Equal(t, "ADDED", kind)
	require.Equal(t, "a", object.Name)
	setValue(t, maps, "1")
	kind, object = readMessage(t, ws)
	require.Equal(t, "MODIFIED", kind)
	require.NoError(t, maps.Delete(t.Context(), "a", metav1.DeleteOptions{}))
	kind, _ = readMessage(t, ws)
	require.Equal(t, "DELETED", kind)
	require.NoError(t, ws.Close())

	ws, err = dialWebSocket(t, srv, "/api/v1/configmaps?watch=1&timeoutSeconds=3&resourceVersion="+object.ResourceVersion, "application/vnd.kubernetes.protobuf")
	require.NoError(t, err)
	var binary []byte
	receive := websocket.Codec{Unmarshal: func(data []byte, kind byte, v any) error {
		require.Equal(t, byte(websocket.BinaryFrame), kind)
		*v.(*[]byte) = data
		return nil
	}}.Receive
	require.NoError(t, receive(ws, &binary))
	require.Contains(t, string(binary), "\n\aDELETED", "the message has no length prefix")
	require.Error(t, receive(ws, &binary), "the timeout is over")

	// A 410 is an event.
	srv.ForgetHistory()
	ws, err = dialWebSocket(t, srv, "/api/v1/configmaps?watch=1&resourceVersion="+object.ResourceVersion, "*/*")
	require.NoError(t, err)
	kind, _ = readMessage(t, ws)
	require.Equal(t, "ERROR", kind)
	require.Eventually(t, func() bool { // a watch is counted when it has ended
		return slices.Contains(scrape(t, srv, "apiserver_request_total"), "code=101 resource=configmaps scope=cluster verb=WATCH 3")
	}, time.Minute, 10*time.Millisecond)
}

// Errors before the stream are HTTP responses, also for a handshake without an Origin or with
// several subprotocols, and those of faults.
func TestWebSocketErrors(t *testing.T) {
	srv := fakeapi.Start(t)
	handshake := func(path string, headers ...string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL()+path, nil)
		require.NoError(t, err)
		r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		resp, err := srv.Client().Do(r)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp
	}
	const watch = "/api/v1/namespaces?watch=1"
	resp := handshake(watch, "Origin", srv.URL())
	require.Equal(t, http.StatusSwitchingProtocols, resp.StatusCode)
	require.Equal(t, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", resp.Header.Get("Sec-WebSocket-Accept"))
	require.Equal(t, http.StatusForbidden, handshake(watch).StatusCode, "no Origin")
	require.Equal(t, http.StatusForbidden, handshake(watch, "Origin", "null").StatusCode)
	require.Equal(t, http.StatusBadRequest, handshake(watch, "Origin", srv.URL(), "Sec-WebSocket-Protocol", "a, b").StatusCode)
	require.Equal(t, http.StatusInternalServerError, handshake(watch+"&resourceVersion=abc", "Origin", srv.URL()).StatusCode)
	require.Equal(t, http.StatusNotAcceptable, handshake(watch, "Origin", srv.URL(), "Accept", "application/yaml").StatusCode)
	require.Equal(t, http.StatusOK, handshake("/api/v1/namespaces", "Origin", srv.URL()).StatusCode, "not a watch")

	_, err := srv.Faults().AddText("gone: when verb(watch) && first(1) do status(410)\n drop: when verb(watch) && event(ADDED) do drop")
	require.NoError(t, err)
	_, err = dialWebSocket(t, srv, watch, "*/*")
	require.ErrorContains(t, err, "bad status")
	ws, err := dialWebSocket(t, srv, watch, "*/*")
	require.NoError(t, err)
	kind, _ := readMessage(t, ws)
	require.Equal(t, "ADDED", kind, "fault rules do not apply to messages of WebSockets")
	require.NoError(t, ws.Close())
}

// Close ends WebSockets. The watch ends if the client closes its WebSocket.
func TestWebSocketClose(t *testing.T) {
	srv, err := fakeapi.New(fakeapi.WithoutSystemObjects())
	require.NoError(t, err)
	const watch = "/api/v1/configmaps?watch=1"
	closed, err := dialWebSocket(t, srv, watch, "*/*")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	require.Eventually(t, func() bool {
		return strings.Contains(strings.Join(scrape(t, srv, "apiserver_longrunning_requests"), ""), "verb=WATCH 0")
	}, time.Minute, 10*time.Millisecond)
	open, err := dialWebSocket(t, srv, watch, "*/*")
	require.NoError(t, err)
	require.NoError(t, srv.Close())
	require.Error(t, websocket.Message.Receive(open, new(string)))
}

// The token of a WebSocket can be in a subprotocol, which is not confirmed. Another one is needed.
func TestTokenInSubprotocol(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTokens(annToken))
	const prefix, other = "base64url.bearer.authorization.k8s.io.", "base64.binary.k8s.io"
	token := func(value string) string { return prefix + base64.RawURLEncoding.EncodeToString([]byte(value)) }
	for _, tt := range []struct {
		protocols []string
		code      int // 0 if the token is accepted
	}{
		{[]string{token(annToken.Value), other}, 0},
		{[]string{other, token(annToken.Value)}, 0},
		{[]string{token(annToken.Value)}, 401},
		{[]string{token("unknown"), other}, 401},
		{[]string{token(annToken.Value), token(annToken.Value), other}, 401},
		{[]string{prefix + "!", other}, 401},
		{[]string{token("\xff"), other}, 401},
		{[]string{prefix, other}, 401}, // no credentials
		{[]string{strings.ToUpper(prefix) + "YQ", other}, 401},
	} {
		config, err := websocket.NewConfig("wss"+strings.TrimPrefix(srv.URL(), "https")+"/api/v1/namespaces/default/configmaps?watch=1", srv.URL())
		require.NoError(t, err)
		config.Protocol = tt.protocols
		config.TlsConfig = transportWithoutToken(srv).TLSClientConfig.Clone()
		config.TlsConfig.NextProtos = nil
		ws, err := config.DialContext(t.Context())
		if tt.code != 0 {
			require.Error(t, err)
			requests := srv.Requests()
			require.Equal(t, tt.code, requests[len(requests)-1].Code, tt.protocols)
			continue
		}
		require.NoError(t, err, tt.protocols)
		require.Equal(t, []string{other}, ws.Config().Protocol)
		require.NoError(t, ws.Close())
	}
}
