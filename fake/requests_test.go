package fakeapi_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

func TestRequests(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTokens(fakeapi.Token{Value: "ann-1", User: "ann", Groups: []string{"system:masters"}}))
	config := srv.RESTConfig()
	config.UserAgent = "test/1"
	client := kubernetes.NewForConfigOrDie(config)
	_, err := client.AppsV1().Deployments("team").Get(t.Context(), "web", metav1.GetOptions{})
	require.Error(t, err)
	w, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer w.Stop()
	config.Impersonate.UserName = "ben"
	_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	anonymous := srv.RESTConfigWithToken("")
	_, err = kubernetes.NewForConfigOrDie(anonymous).ServerVersion()
	require.NoError(t, err)

	requests := srv.Requests()
	require.Len(t, requests, 4)
	get := requests[0]
	require.NotZero(t, get.Time)
	get.Time = requests[1].Time
	require.Equal(t, fakeapi.Request{
		Time: requests[1].Time, Method: "GET", Path: "/apis/apps/v1/namespaces/team/deployments/web", Verb: "get",
		Group: "apps", Version: "v1", Resource: "deployments", Namespace: "team", Name: "web", User: "ann", UserAgent: "test/1", Code: 404,
	}, get)
	require.Equal(t, "ann get deployments.apps web in team 404", requests[0].String())
	require.Equal(t, "ann watch pods 200", requests[1].String())
	require.Equal(t, "ben list namespaces 200", requests[2].String())
	require.Equal(t, "system:anonymous get /version 200", requests[3].String())

	open := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	code, _, _ := send(t, open, "GET", "/api/v1/nodes", "", nil)
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "system:admin list nodes 200", open.Requests()[0].String())
}

func TestWithLogger(t *testing.T) {
	for name, opts := range map[string][]fakeapi.Option{"with": nil, "without": {fakeapi.WithoutTimeline()}} {
		t.Run(name+" timeline", func(t *testing.T) {
			var text bytes.Buffer
			logger := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))
			srv := fakeapi.Start(t, append(opts, fakeapi.WithInMemoryNetwork(), fakeapi.WithLogger(logger))...)
			r, err := http.NewRequest(http.MethodGet, srv.URL()+"/api/v1/nodes/n", nil)
			require.NoError(t, err)
			answer, err := srv.Client().Do(r)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			require.NoError(t, srv.Close())
			require.Contains(t, text.String(), "level=DEBUG msg=request method=GET url=/api/v1/nodes/n verb=get resource=nodes")
			require.Contains(t, text.String(), "code=404 duration=")
		})
	}
	var text bytes.Buffer
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithLogger(slog.New(slog.NewTextHandler(&text, nil))), fakeapi.WithTokens(annToken),
		fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) { panic("oh") })))
	code, _, _ := send(t, srv, "GET", "/api/v1/nodes", "", nil)
	require.Equal(t, http.StatusInternalServerError, code)
	require.Contains(t, text.String(), `level=ERROR msg="fakeapi: panic serving a request" method=GET url=/api/v1/nodes panic=oh stack=`)
	_, err := fakeapi.New(fakeapi.WithLogger(nil))
	require.ErrorContains(t, err, "WithLogger needs a logger")
}
