package golden

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

const twoCRDs = `
metadata: {name: as.example.com}
spec: {group: example.com, names: {plural: as}, versions: [{name: v1}]}
---
metadata: {name: bs.example.com}
spec: {group: example.com, names: {plural: bs}, versions: [{name: v1}, {name: v2}]}
`

// Install does not change existing definitions and waits for new ones to be served.
func TestInstall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		posts, gets := 0, 0
		s := &server{answers: map[string]func(*http.Request) *http.Response{
			"POST " + crdPath: func(*http.Request) *http.Response {
				posts++
				return newResponse(map[int]int{1: 409, 2: 201}[posts], `{}`)
			},
			"GET /apis/example.com/v1/as": respondAlways(200, `{}`),
			"GET /apis/example.com/v1/bs": func(*http.Request) *http.Response {
				gets++
				return newResponse(map[bool]int{true: 200, false: 404}[gets > 2], `{}`)
			},
			"GET /apis/example.com/v2/bs": respondAlways(200, `{}`),
			"GET /openapi/v3":             respondAlways(200, `{"paths":{"apis/example.com/v1":{},"apis/example.com/v2":{}}}`),
		}}
		player := Player{BaseURL: "http://server", Client: &http.Client{Transport: s}}
		remove, err := player.Install(t.Context(), []byte(twoCRDs))
		require.NoError(t, err)
		require.Equal(t, 3, gets)
		sent := len(s.sent)
		require.NoError(t, remove(t.Context()))
		require.Equal(t, []string{"DELETE " + crdPath + "/bs.example.com"}, s.sent[sent:])
	})
}

func TestInstallFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{answers: map[string]func(*http.Request) *http.Response{"POST " + crdPath: respondAlways(403, `no`)}}
		player := Player{BaseURL: "http://server", Client: &http.Client{Transport: s}}
		remove, err := player.Install(t.Context(), []byte(twoCRDs))
		require.ErrorContains(t, err, "POST "+crdPath+": 403: no")
		require.NoError(t, remove(t.Context()))
		_, err = player.Install(t.Context(), []byte("a: ["))
		require.Error(t, err)
		s.answers["POST "+crdPath] = respondAlways(201, `{}`)
		_, err = player.Install(t.Context(), []byte(twoCRDs))
		require.ErrorContains(t, err, "as.example.com is not served after 30 seconds")
	})
}

const collectionsCase = `
	{"setup": true, "request": {"method": "POST", "path": "/api/v1/namespaces/$ns/configmaps?dryRun=All"}, "response": {"code": 200}},
	{"setup": true, "request": {"method": "POST", "path": "/api/v1/namespaces/$ns/configmaps"}, "response": {"code": 200}},
	{"setup": true, "request": {"method": "POST", "path": "/api/v1/namespaces/$ns/pods"}, "response": {"code": 200}},
	{"setup": true, "request": {"method": "DELETE", "path": "/api/v1/watch/namespaces/$ns/pods"}, "response": {"code": 200}}
`

// cleanUpRequests are the requests of a clean-up in which a collection has an object left.
var cleanUpRequests = []string{
	"DELETE /api/v1/namespaces/space/configmaps",
	"GET /api/v1/namespaces/space/configmaps",
	`PATCH /api/v1/namespaces/space/configmaps/a {"metadata":{"finalizers":null}}`,
	"DELETE /api/v1/namespaces/space/configmaps/a?gracePeriodSeconds=0",
	"DELETE /api/v1/namespaces/space/pods",
	"GET /api/v1/namespaces/space/pods",
	"DELETE /api/v1/namespaces/space",
}

func newServerWithLeftovers() *server {
	return &server{answers: map[string]func(*http.Request) *http.Response{
		"GET /api/v1/namespaces/space/configmaps": respondAlways(200, `{"items":[{"metadata":{"name":"a","finalizers":["x/y"]}}]}`),
		"GET /api/v1/namespaces/space/pods":       respondAlways(404, ``),
	}}
}

func TestCleanUp(t *testing.T) {
	s := newServerWithLeftovers()
	result := playSteps(t, t.Context(), s, nil, collectionsCase)
	require.True(t, result.Same(), "%v", lines(result))
	require.Empty(t, result.Leftovers)
	require.Equal(t, cleanUpRequests, s.sent[5:])

	s.answers["DELETE /api/v1/namespaces/space"] = respondAlways(403, `{}`)
	result = playSteps(t, t.Context(), s, nil, collectionsCase)
	require.Equal(t, []string{"DELETE /api/v1/namespaces/$ns: 403: {}"}, result.Leftovers)
}

// An interrupted case is cleaned up as well.
func TestCleanUpAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newServerWithLeftovers()
	s.answers["POST /api/v1/namespaces/space/pods"] = func(r *http.Request) *http.Response {
		cancel()
		return newResponse(200, `{}`)
	}
	result := playSteps(t, ctx, s, nil, collectionsCase)
	require.False(t, result.Same())
	require.Equal(t, cleanUpRequests, s.sent[4:], "the last step is not played")
}

// The server may carry out a request whose client has gone. Therefore the create of the namespace
// is not interrupted, and what is created is removed.
func TestInterruptedDuringCreate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	interrupted := func(r *http.Request) *http.Response {
		cancel()
		require.NoError(t, r.Context().Err())
		return newResponse(201, `{}`)
	}
	s := newServerWithLeftovers()
	s.answers["POST /api/v1/namespaces"] = interrupted
	result := playSteps(t, ctx, s, nil, collectionsCase)
	require.False(t, result.Same())
	require.Equal(t, cleanUpRequests[len(cleanUpRequests)-1], s.sent[len(s.sent)-1])

	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	s = &server{answers: map[string]func(*http.Request) *http.Response{"POST " + crdPath: interrupted}}
	remove, err := Player{BaseURL: "http://server", Client: &http.Client{Transport: s}}.Install(ctx, []byte(twoCRDs))
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, remove(t.Context()))
	require.Equal(t, "DELETE "+crdPath+"/as.example.com", s.sent[len(s.sent)-1])
}
