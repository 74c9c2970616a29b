package fakeapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// Middleware runs before fault rules, in the given order, and may write the response.
func TestMiddleware(t *testing.T) {
	mark := func(name string) fakeapi.Option {
		return fakeapi.WithMiddleware(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Add("Seen-By", name)
				if r.URL.Path == "/answered/by/"+name {
					w.WriteHeader(http.StatusTeapot)
					return
				}
				next.ServeHTTP(w, r)
			})
		})
	}
	rule, err := faults.Parse("away: when verb(get) do status(503)")
	require.NoError(t, err)
	srv := fakeapi.Start(t, mark("outer"), mark("inner"), fakeapi.WithFaults(rule))
	for path, want := range map[string]struct {
		code int
		seen []string
	}{
		"/api/v1/namespaces/default": {http.StatusServiceUnavailable, []string{"outer", "inner"}},
		"/version":                   {http.StatusOK, []string{"outer", "inner"}},
		"/answered/by/outer":         {http.StatusTeapot, []string{"outer"}},
		"/answered/by/inner":         {http.StatusTeapot, []string{"outer", "inner"}},
	} {
		response, err := srv.Client().Get(srv.URL() + path)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, want.code, response.StatusCode, path)
		require.Equal(t, want.seen, response.Header.Values("Seen-By"), path)
	}
}
