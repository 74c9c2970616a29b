package handlers

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fakeapi/memstore"
)

// A token of a client is either invalid or decodes to a position in the collection that can be
// encoded again.
func FuzzDecodeContinue(f *testing.F) {
	f.Add("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MzMsInN0YXJ0IjoiL2FcdTAwMDAifQ", false)
	f.Add("e30", false)
	f.Add("!!!", false)
	for _, inside := range []string{
		`{"v":"meta.k8s.io/v1","rv":33,"start":"/a\u0000"}`, `{"v":"meta.k8s.io/v1","rv":-1,"start":"a"}`,
		`{"v":"meta.k8s.io/v1","rv":0,"start":"a"}`, `{"v":"meta.k8s.io/v2","rv":1,"start":"a"}`, `{"v":"meta.k8s.io/v1","rv":1,"start":""}`,
		`{"v":"meta.k8s.io/v1","rv":1,"start":"/../other/a"}`, `{"v":"meta.k8s.io/v1","rv":1,"start":"a/./b"}`, `{"v":"meta.k8s.io/v1","rv":1,"start":"//a/"}`,
		`{"v":"meta.k8s.io/v1","rv":9223372036854775807,"start":"/"}`, `{"v":"meta.k8s.io/v1","rv":1e3,"start":"a"}`, `{"RV":1,"V":"meta.k8s.io/v1","Start":"\ud800"}`, `[]`, `null`,
	} {
		f.Add(inside, true)
	}
	f.Fuzz(func(t *testing.T, token string, encode bool) {
		if encode {
			token = base64.RawURLEncoding.EncodeToString([]byte(token))
		}
		const prefix = "configmaps/ns/"
		at, err := decodeContinue(prefix, token)
		if err != nil {
			require.True(t, apierrors.IsBadRequest(err), "%v", err)
			return
		}
		require.True(t, strings.HasPrefix(at.startKey, prefix), at.startKey)
		require.NotContains(t, at.startKey, "/../")
		for _, revision := range []int64{inconsistentRevision, max(1, int64(at.revision))} { // it can be encoded and decoded again
			if at.startKey == prefix {
				continue // the start of the collection, which has no token
			}
			again, err := decodeContinue(prefix, encodeContinue(prefix, at.startKey, revision))
			require.NoError(t, err)
			require.Equal(t, continuePosition{at.startKey, memstore.Revision(max(0, revision))}, again)
		}
	})
}

func TestContinueForm(t *testing.T) {
	token := encodeContinue("configmaps/ns/", "configmaps/ns/a\x00", 33)
	require.Equal(t, "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MzMsInN0YXJ0IjoiL2FcdTAwMDAifQ", token, "as a real server's")
	at, err := decodeContinue("configmaps/ns/", token)
	require.NoError(t, err)
	require.Equal(t, continuePosition{startKey: "configmaps/ns/a\x00", revision: 33}, at)
}

// A token that continues in the current state begins without a slash.
func TestInconsistentContinueForm(t *testing.T) {
	inside, err := base64.RawURLEncoding.DecodeString(encodeContinue("configmaps/ns/", "configmaps/ns/a\x00", inconsistentRevision))
	require.NoError(t, err)
	require.Equal(t, `{"v":"meta.k8s.io/v1","rv":-1,"start":"a\u0000"}`, string(inside))
}

// The oldest revisions are forgotten, so that memory is limited.
func TestTrackedRevisionsAreLimited(t *testing.T) {
	c := continueLifetimes{lifetime: time.Hour}
	revision := func(n int) epochRevision { return epochRevision{revision: memstore.Revision(n)} }
	const last = 2*maxTrackedRevisions + 10
	for n := 1; n <= last; n++ {
		c.recordServed(revision(n))
		c.recordServed(revision(n))
	}
	require.Len(t, c.firstServed, maxTrackedRevisions)
	for n := last - maxTrackedRevisions + 1; n <= last; n++ {
		_, ok := c.firstServed[revision(n)]
		require.True(t, ok, n)
	}
}
