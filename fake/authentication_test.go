package fakeapi_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	fakeapi "example.com/fakeapi/fake"
)

var annToken = fakeapi.Token{Value: "ann-1", User: "ann", Groups: []string{"team-a"}}

// expiring returns a token that expires after d.
func expiring(token fakeapi.Token, d time.Duration) fakeapi.Token {
	token.ExpiresIn = d
	return token
}

// sendWithAuth sends a request with the given Authorization and Accept headers, over the
// connections of the server's client. It reports whether the connection was reused.
func sendWithAuth(t *testing.T, srv *fakeapi.Server, method, path, authorization, accept string) (resp *http.Response, body string, reused bool) {
	t.Helper()
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused }})
	r, err := http.NewRequestWithContext(ctx, method, srv.URL()+path, nil)
	require.NoError(t, err)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	r.Header.Set("Accept", accept)
	resp, err = transportWithoutToken(srv).RoundTrip(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	content, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(content), reused
}

// transportWithoutToken returns the transport of a server's client without its token.
func transportWithoutToken(srv *fakeapi.Server) *http.Transport {
	rt := srv.Client().Transport
	if wrapper, ok := rt.(interface{ WrappedRoundTripper() http.RoundTripper }); ok {
		rt = wrapper.WrappedRoundTripper()
	}
	return rt.(*http.Transport)
}

const unauthorizedBody = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}` + "\n"

// Missing or invalid credentials return 401 for all paths (AU-01, AU-03).
func TestUnauthorized(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTokens(annToken), fakeapi.WithControlAPI())
	for _, authorization := range []string{"", "Bearer", "Bearer ", "Bearer bob-1", "Bearer  ann-1", "Bearer ANN-1", "Basic ann-1", "ann-1", "Bearer a.b.c", "Bearer ann-1x"} {
		for _, path := range []string{"/api", "/apis", "/api/v1/pods", "/api/v1/pods?watch=1", "/api/v1/namespaces/none/pods/none", "/openapi/v2", "/healthz/ping", "/nothing", "/", "/fakeapi/v1/compact"} {
			resp, body, _ := sendWithAuth(t, srv, "GET", path, authorization, "application/json")
			require.Equal(t, 401, resp.StatusCode, "%s with %q", path, authorization)
			require.Equal(t, unauthorizedBody, body)
			require.Equal(t, "application/json", resp.Header.Get("Content-Type"))
			if !strings.HasPrefix(path, "/fakeapi/") {
				require.Equal(t, "no-cache, private", resp.Header.Get("Cache-Control"))
				require.NotEmpty(t, resp.Header.Get("Audit-Id"))
			}
			if authorization == "Bearer  ann-1" {
				require.Equal(t, `299 - "the provided Authorization header contains extra space before the bearer token, and is ignored"`, resp.Header.Get("Warning"))
			} else {
				require.Empty(t, resp.Header.Get("Warning"))
			}
		}
	}
	for _, authorization := range []string{"Bearer ann-1", "bearer ann-1", " BEARER ann-1 more"} {
		resp, _, _ := sendWithAuth(t, srv, "GET", "/api/v1/pods", authorization, "application/json")
		require.Equal(t, 200, resp.StatusCode, authorization)
	}
	resp, body, _ := sendWithAuth(t, srv, "GET", "/api/v1/pods", "", "application/vnd.kubernetes.protobuf")
	require.Equal(t, 401, resp.StatusCode)
	require.Equal(t, "application/vnd.kubernetes.protobuf", resp.Header.Get("Content-Type"))
	require.Regexp(t, "^k8s\x00", body)
}

// Unauthenticated writes and requests to the control API change nothing.
func TestUnauthorizedChangesNothing(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTokens(annToken), fakeapi.WithControlAPI())
	before := srv.ResourceVersion()
	client := kubernetes.NewForConfigOrDie(srv.RESTConfigWithToken("bob-1"))
	_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{})
	require.True(t, apierrors.IsUnauthorized(err), "%v", err)
	require.EqualError(t, err, "Unauthorized")
	require.Equal(t, before, srv.ResourceVersion())

	_, err = kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	past := "/api/v1/configmaps?resourceVersionMatch=Exact&resourceVersion=" + before
	resp, _, _ := sendWithAuth(t, srv, "POST", "/fakeapi/v1/compact", "", "")
	require.Equal(t, 401, resp.StatusCode)
	code, _, _ := send(t, srv, "GET", past, "", nil)
	require.Equal(t, 200, code, "no history was compacted")
	code, _, _ = send(t, srv, "POST", "/fakeapi/v1/compact", "", nil)
	require.Equal(t, 204, code)
	code, _, _ = send(t, srv, "GET", past, "", nil)
	require.Equal(t, 410, code)
}

// Health checks and /version need no credentials, but reject invalid ones.
func TestUnauthenticatedPaths(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTokens(annToken))
	for _, path := range []string{"/healthz", "/livez", "/readyz", "/version", "/version/", "/readyz?verbose"} {
		resp, _, _ := sendWithAuth(t, srv, "GET", path, "", "")
		require.Equal(t, 200, resp.StatusCode, path)
		resp, _, _ = sendWithAuth(t, srv, "GET", path, "Bearer bob-1", "")
		require.Equal(t, 401, resp.StatusCode, path)
	}
}

// A 401 closes the HTTP/2 connection of the client, except for its running requests.
func TestUnauthorizedClosesHTTP2Connections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTokens(annToken))
		client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
		stream := openWatch(t, t.Context(), srv, "/api/v1/configmaps?watch=1&timeoutSeconds=60&resourceVersion="+srv.ResourceVersion())

		_, _, reused := sendWithAuth(t, srv, "GET", "/api/v1/pods", "Bearer ann-1", "")
		require.True(t, reused)
		resp, _, reused := sendWithAuth(t, srv, "GET", "/api/v1/pods", "", "")
		require.True(t, reused)
		require.Equal(t, "HTTP/2.0", resp.Proto)
		synctest.Wait() // the GOAWAY may arrive after the response
		_, _, reused = sendWithAuth(t, srv, "GET", "/api/v1/pods", "Bearer ann-1", "")
		require.False(t, reused)

		time.Sleep(30 * time.Second)
		_, err := client.Create(t.Context(), configMap("late", "1"), metav1.CreateOptions{})
		require.NoError(t, err)
		require.Len(t, readEvents(stream.Body), 1)
	})
}

// On virtual time a token is accepted until it expires, and again after it was added once more.
// Watches continue (case 101 of the faults).
func TestTokensExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTokens(
			expiring(annToken, 10*time.Minute), fakeapi.Token{Value: "bob-1", User: "bob", ExpiresAt: time.Now().Add(time.Hour)}))
		maps := func(token string) func(name string) error {
			client := kubernetes.NewForConfigOrDie(srv.RESTConfigWithToken(token)).CoreV1().ConfigMaps("default")
			return func(name string) error {
				_, err := client.Create(t.Context(), configMap(name, "1"), metav1.CreateOptions{})
				return err
			}
		}
		createAsAnn, createAsBob := maps("ann-1"), maps("bob-1")
		w, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		defer w.Stop()
		next := func() string { return (<-w.ResultChan()).Object.(metav1.Object).GetName() }

		time.Sleep(10*time.Minute - time.Nanosecond)
		require.NoError(t, createAsAnn("a"))
		require.Equal(t, "a", next())
		time.Sleep(time.Nanosecond)
		require.True(t, apierrors.IsUnauthorized(createAsAnn("b")))
		require.NoError(t, createAsBob("c"))
		require.Equal(t, "c", next(), "the watch continues")

		require.NoError(t, srv.AddToken(annToken))
		require.NoError(t, createAsAnn("b"))
		require.NoError(t, srv.ExpireToken("ann-1"))
		require.True(t, apierrors.IsUnauthorized(createAsAnn("d")))

		time.Sleep(50*time.Minute - time.Nanosecond)
		require.NoError(t, createAsBob("d"))
		time.Sleep(time.Nanosecond)
		require.True(t, apierrors.IsUnauthorized(createAsBob("e")))
	})
}

// The client of the server sends the first token, unless the request has credentials.
func TestClientKeepsAuthorization(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTokens(annToken, fakeapi.Token{Value: "bob-1", User: "bob"}))
	getWithAccept(t, srv, "GET", "/version", "*/*")
	getWithAccept(t, srv, "GET", "/version", "*/*", "Authorization", "Bearer bob-1")
	requests := srv.Requests()
	require.Equal(t, []string{"ann", "bob"}, []string{requests[0].User, requests[1].User})
}

func TestTokensInKubeconfig(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTokens(annToken))
	file, err := srv.Kubeconfig()
	require.NoError(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(file)
	require.NoError(t, err)
	_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
}

// A replica uses the tokens of its server.
func TestReplicaTokens(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTokens(annToken))
	replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
	require.NoError(t, err)
	list := func(token string) error {
		_, err := kubernetes.NewForConfigOrDie(replica.RESTConfigWithToken(token)).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		return err
	}
	require.NoError(t, list("ann-1"))
	require.True(t, apierrors.IsUnauthorized(list("")))
	require.NoError(t, srv.AddToken(fakeapi.Token{Value: "bob-1", User: "bob"}))
	require.NoError(t, list("bob-1"))
	require.NoError(t, replica.ExpireToken("bob-1"))
	code, _, _ := send(t, srv, "GET", "/api/v1/pods", "", nil)
	require.Equal(t, 200, code)
	resp, _, _ := sendWithAuth(t, srv, "GET", "/api/v1/pods", "Bearer bob-1", "")
	require.Equal(t, 401, resp.StatusCode)

	for _, opt := range []fakeapi.Option{
		fakeapi.WithTokens(annToken), fakeapi.WithClientCA(), fakeapi.WithoutAnonymousAuth(), fakeapi.WithAuthorizationModes(fakeapi.ModeAlwaysAllow),
	} {
		_, err = srv.Replica(opt)
		require.ErrorContains(t, err, "a replica has the users of its server")
	}
}

func TestInvalidTokens(t *testing.T) {
	for want, tokens := range map[string][]fakeapi.Token{
		"needs at least one token":         nil,
		`"" cannot be sent`:                {fakeapi.Token{Value: "", User: "ann"}},
		`"a b" cannot be sent`:             {fakeapi.Token{Value: "a b", User: "ann"}},
		`"a\n" cannot be sent`:             {fakeapi.Token{Value: "a\n", User: "ann"}},
		`"ä" cannot be sent`:               {fakeapi.Token{Value: "ä", User: "ann"}},
		`token "a" has no user name`:       {annToken, fakeapi.Token{Value: "a", User: ""}},
		`"ann-1" expires in -1s, which is`: {expiring(annToken, -time.Second)},
		`both ExpiresAt and ExpiresIn`:     {{Value: "a", User: "b", ExpiresAt: time.Now(), ExpiresIn: 1}},
	} {
		_, err := fakeapi.New(fakeapi.WithTokens(tokens...))
		require.ErrorContains(t, err, want)
	}
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTokens(annToken))
	require.ErrorContains(t, srv.AddToken(fakeapi.Token{Value: "", User: "ann"}), "cannot be sent")
	require.ErrorContains(t, srv.ExpireToken("bob-1"), `token "bob-1" is not known`)
	require.NoError(t, srv.ExpireToken("ann-1"))
	require.NoError(t, srv.ExpireToken("ann-1"), "the expired token is known")
	open := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	require.ErrorContains(t, open.AddToken(annToken), "does not authenticate")
	require.ErrorContains(t, open.ExpireToken("ann-1"), "does not authenticate")
}

// Admission plugins receive the authenticated user, or system:admin without authentication.
func TestAdmissionUserInfo(t *testing.T) {
	var w reviewer
	forger := func(_ context.Context, request *admissionRequest) *admissionResponse {
		request.UserInfo.Groups[0] = "forged" // a copy of its own
		return allow()
	}
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTokens(annToken), fakeapi.WithAdmission(
		fakeapi.Admission{Name: "m", Mutating: true, Review: forger}, fakeapi.Admission{Name: "v", Review: w.review}))
	maps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
	_, err := maps.Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "ann", w.last().UserInfo.Username)
	require.Equal(t, []string{"team-a", "system:authenticated"}, w.last().UserInfo.Groups)
	require.NoError(t, maps.Delete(t.Context(), "a", metav1.DeleteOptions{}))
	require.Equal(t, []string{"team-a", "system:authenticated"}, w.last().UserInfo.Groups)

	open := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithAdmission(fakeapi.Admission{Name: "v", Review: w.review}))
	code, _, _ := send(t, open, "POST", "/api/v1/namespaces/default/configmaps", "application/json", []byte(`{"metadata":{"name":"a"}}`))
	require.Equal(t, 201, code)
	require.Equal(t, "system:admin", w.last().UserInfo.Username)
}

// Without anonymous requests, the public paths need credentials, too.
func TestWithoutAnonymousAuth(t *testing.T) {
	for _, opts := range [][]fakeapi.Option{{fakeapi.WithRBAC()}, {fakeapi.WithTokens(fakeapi.Token{Value: "secret", User: "user"})}} {
		for _, path := range []string{"/readyz", "/api/v1/namespaces"} {
			srv := fakeapi.Start(t, append(opts, fakeapi.WithoutAnonymousAuth())...)
			client, err := rest.HTTPClientFor(rest.AnonymousClientConfig(srv.RESTConfig()))
			require.NoError(t, err)
			response, err := client.Get(srv.URL() + path)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, http.StatusUnauthorized, response.StatusCode, path)
			response, err = srv.Client().Get(srv.URL() + path)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, http.StatusOK, response.StatusCode, path)
		}
	}
}
