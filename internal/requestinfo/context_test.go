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
