package fakeapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

const repeatedDeployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"selector":{"matchLabels":{"a":"b"}},
	"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`

// A repeated apply is evaluated again if something has changed that its response depends on: the
// labels of the namespace, which the plugin PodSecurity warns of, or a default of the definition.
func TestRepeatedApplyIsEvaluatedAgain(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithCRDs(fakeapi.CRDsFromFS(fstest.MapFS{"crd.yaml": {Data: []byte(repeatedDefinition())}})))
	send := func(method, path, contentType, body string) (*http.Response, string) {
		r, err := http.NewRequest(method, srv.URL()+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", contentType)
		response, err := srv.Client().Do(r)
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Less(t, response.StatusCode, 300, "%s", text)
		return response, string(text)
	}
	apply := func(path, body string) (*http.Response, string) {
		return send(http.MethodPatch, path+"?fieldManager=m&force=true", applyYAML, body)
	}
	const deployment = "/apis/apps/v1/namespaces/default/deployments/web"
	for range 3 {
		response, _ := apply(deployment, repeatedDeployment)
		require.Empty(t, response.Header["Warning"])
	}
	send(http.MethodPatch, "/api/v1/namespaces/default", mergeJSON, `{"metadata":{"labels":{"pod-security.kubernetes.io/warn":"restricted"}}}`)
	response, _ := apply(deployment, repeatedDeployment)
	require.Len(t, response.Header["Warning"], 1)

	const thing = "/apis/repeat.example.com/v1/namespaces/default/things/a"
	const body = `{"apiVersion":"repeat.example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"size":1}}`
	_, before := apply(thing, body)
	_, again := apply(thing, body)
	require.Equal(t, before, again)
	send(http.MethodPatch, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.repeat.example.com", mergeJSON,
		`{"spec":{"versions":[`+repeatedVersion(`,"default":"small"`)+`]}}`)
	_, after := apply(thing, body)
	require.Contains(t, after, `"kind":"small"`)
}

func repeatedVersion(withDefault string) string {
	return `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",
		"properties":{"size":{"type":"integer"},"kind":{"type":"string"` + withDefault + `}}}}}}}`
}

func repeatedDefinition() string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.repeat.example.com"},
		"spec":{"group":"repeat.example.com","scope":"Namespaced","names":{"plural":"things","singular":"thing","kind":"Thing"},"versions":[` + repeatedVersion("") + `]}}`
}

// A transition rule may refuse an apply that changes nothing, because such rules are not ratcheted.
func TestRepeatedApplyWithTransitionRule(t *testing.T) {
	definition := strings.Replace(repeatedDefinition(), `"size":{"type":"integer"}`, `"size":{"type":"integer",
		"x-kubernetes-validations":[{"rule":"!oldSelf.hasValue()","message":"set once","optionalOldSelf":true}]}`, 1)
	srv := fakeapi.Start(t, fakeapi.WithCRDs(fakeapi.CRDsFromFS(fstest.MapFS{"crd.yaml": {Data: []byte(definition)}})))
	apply := func() (int, string) {
		r, err := http.NewRequest(http.MethodPatch, srv.URL()+"/apis/repeat.example.com/v1/namespaces/default/things/a?fieldManager=m",
			strings.NewReader(`{"apiVersion":"repeat.example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"size":1}}`))
		require.NoError(t, err)
		r.Header.Set("Content-Type", applyYAML)
		response, err := srv.Client().Do(r)
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode, string(text)
	}
	code, text := apply()
	require.Equal(t, http.StatusCreated, code, text)
	code, text = apply()
	require.Equal(t, http.StatusUnprocessableEntity, code, text)
	require.Contains(t, text, "spec.size: Invalid value: 1: set once")
}
