package golden

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

const twoDefinitions = `
metadata: {name: as.example.com}
spec: {group: example.com, names: {plural: as}, versions: [{name: v1}]}
---
metadata: {name: bs.example.com}
spec: {group: example.com, names: {plural: bs}, versions: [{name: v1}, {name: v2}]}
`

// What was there before stays, what is not served yet is waited for.
func TestInstall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		posts, gets := 0, 0
		s := &server{answers: map[string]func(*http.Request) *http.Response{
			"POST " + definitions: func(*http.Request) *http.Response {
				posts++
				return answer(map[int]int{1: 409, 2: 201}[posts], `{}`)
			},
			"GET /apis/example.com/v1/as": always(200, `{}`),
			"GET /apis/example.com/v1/bs": func(*http.Request) *http.Response {
				gets++
				return answer(map[bool]int{true: 200, false: 404}[gets > 2], `{}`)
			},
			"GET /apis/example.com/v2/bs": always(200, `{}`),
			"GET /openapi/v3":             always(200, `{"paths":{"apis/example.com/v1":{},"apis/example.com/v2":{}}}`),
		}}
		player := Player{BaseURL: "http://server", Client: &http.Client{Transport: s}}
		remove, err := player.Install(t.Context(), []byte(twoDefinitions))
		require.NoError(t, err)
		require.Equal(t, 3, gets)
		sent := len(s.sent)
		require.NoError(t, remove(t.Context()))
		require.Equal(t, []string{"DELETE " + definitions + "/bs.example.com"}, s.sent[sent:])
	})
}

func TestInstallFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{answers: map[string]func(*http.Request) *http.Response{"POST " + definitions: always(403, `no`)}}
		player := Player{BaseURL: "http://server", Client: &http.Client{Transport: s}}
		remove, err := player.Install(t.Context(), []byte(twoDefinitions))
		require.ErrorContains(t, err, "POST "+definitions+": 403: no")
		require.NoError(t, remove(t.Context()))
		_, err = player.Install(t.Context(), []byte("a: ["))
		require.Error(t, err)
		s.answers["POST "+definitions] = always(201, `{}`)
		_, err = player.Install(t.Context(), []byte(twoDefinitions))
		require.ErrorContains(t, err, "as.example.com is not served after 30 seconds")
	})
}

const collections = `
	{"setup": true, "request": {"method": "POST", "path": "/api/v1/namespaces/$ns/configmaps?dryRun=All"}, "response": {"code": 200}},
	{"setup": true, "request": {"method": "POST", "path": "/api/v1/namespaces/$ns/configmaps"}, "response": {"code": 200}},
	{"setup": true, "request": {"method": "POST", "path": "/api/v1/namespaces/$ns/pods"}, "response": {"code": 200}},
	{"setup": true, "request": {"method": "DELETE", "path": "/api/v1/watch/namespaces/$ns/pods"}, "response": {"code": 200}}
`

// cleaning is what the clean-up of those collections sends if something is left in one.
var cleaning = []string{
	"DELETE /api/v1/namespaces/space/configmaps",
	"GET /api/v1/namespaces/space/configmaps",
	`PATCH /api/v1/namespaces/space/configmaps/a {"metadata":{"finalizers":null}}`,
	"DELETE /api/v1/namespaces/space/configmaps/a?gracePeriodSeconds=0",
	"DELETE /api/v1/namespaces/space/pods",
	"GET /api/v1/namespaces/space/pods",
	"DELETE /api/v1/namespaces/space",
}

func serverWithLeftovers() *server {
	return &server{answers: map[string]func(*http.Request) *http.Response{
		"GET /api/v1/namespaces/space/configmaps": always(200, `{"items":[{"metadata":{"name":"a","finalizers":["x/y"]}}]}`),
		"GET /api/v1/namespaces/space/pods":       always(404, ``),
	}}
}

func TestCleanUp(t *testing.T) {
	s := serverWithLeftovers()
	result := playSteps(t, t.Context(), s, nil, collections)
	require.True(t, result.Same(), "%v", lines(result))
	require.Empty(t, result.Leftovers)
	require.Equal(t, cleaning, s.sent[5:])

	s.answers["DELETE /api/v1/namespaces/space"] = always(403, `{}`)
	result = playSteps(t, t.Context(), s, nil, collections)
	require.Equal(t, []string{"DELETE /api/v1/namespaces/$ns: 403: {}"}, result.Leftovers)
}

// An interrupted case is cleaned up after, too.
func TestCleanUpAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serverWithLeftovers()
	s.answers["POST /api/v1/namespaces/space/pods"] = func(r *http.Request) *http.Response {
		cancel()
		return answer(200, `{}`)
	}
	result := playSteps(t, ctx, s, nil, collections)
	require.False(t, result.Same())
	require.Equal(t, cleaning, s.sent[4:], "and the last step is not played")
}
