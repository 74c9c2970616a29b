package requestinfo_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/internal/requestinfo"
)

// The context of a request leads to the request, also after a filter has parsed it again.
func TestRequestFromContext(t *testing.T) {
	require.Nil(t, requestinfo.RequestFromContext(t.Context()))
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/api/v1/namespaces/ns/pods?dryRun=All", nil)
	r.Header.Set("User-Agent", "me")
	for range 2 {
		r = requestinfo.WithRequestInfo(r)
		found := requestinfo.RequestFromContext(context.WithValue(r.Context(), t, t))
		require.Same(t, r, found)
		require.Equal(t, "me", found.UserAgent())
		require.Equal(t, requestinfo.Create, requestinfo.FromRequest(found).Verb)
	}
}

// The number of a request remains after a filter has parsed the request again.
func TestNumber(t *testing.T) {
	requestinfo.SetNumber(t.Context(), 1)
	require.Zero(t, requestinfo.Number(t.Context()))
	r := requestinfo.WithRequestInfo(httptest.NewRequestWithContext(t.Context(), "GET", "/api", nil))
	require.Zero(t, requestinfo.Number(r.Context()))
	requestinfo.SetNumber(r.Context(), 7)
	r = requestinfo.WithRequestInfo(r)
	require.EqualValues(t, 7, requestinfo.Number(context.WithValue(r.Context(), t, t)))
}
