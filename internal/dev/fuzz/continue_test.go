package fuzz_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// A list with an arbitrary continue token fails with 400, with 410 or, for a future revision, with
// 504. Otherwise it returns, page by page, the objects after the token's start, in the namespace of
// the path, at the token's revision, each once.
func FuzzContinue(f *testing.F) {
	for _, start := range []string{"/a\x00", "a", "/b", "/", "b\x00x", "//", "/../other/a", "../configmaps/other/", "/c/..", "\xff", "other/a\x00", "~", ""} {
		for path := range uint8(3) {
			f.Add(path, "meta.k8s.io/v1", int64(-1), start, "", int64(1))
			f.Add(path, "meta.k8s.io/v1", int64(1021), start, "", int64(2))
		}
	}
	f.Add(uint8(0), "meta.k8s.io/v1", int64(1), "/a", "", int64(1))
	f.Add(uint8(0), "meta.k8s.io/v1", int64(1<<62), "/a", "", int64(1))
	f.Add(uint8(0), "meta.k8s.io/v1", int64(0), "/a", "", int64(1))
	f.Add(uint8(0), "meta.k8s.io/v2", int64(5), "/a", "", int64(0))
	f.Add(uint8(0), "", int64(5), "/a", "e30", int64(3))
	f.Add(uint8(0), "", int64(5), "/a", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTAyMSwic3RhcnQiOiIvYVx1MDAwMCJ9&labelSelector=app", int64(1))
	base := newFuzzServer(f, newSelectableObjects()...)
	paths := []string{configMapsPath, "/api/v1/configmaps", "/api/v1/namespaces/other/configmaps"}
	f.Fuzz(func(t *testing.T, path uint8, version string, revision int64, start, raw string, limit int64) {
		if raw == "" {
			inside, err := json.Marshal(map[string]any{"v": version, "rv": revision, "start": start})
			require.NoError(t, err)
			raw = base64.RawURLEncoding.EncodeToString(inside)
			start = strings.ToValidUTF8(start, "\ufffd") // as JSON encodes it
		} else {
			revision, start = -1, ""
		}
		synctest.Test(t, func(t *testing.T) {
			p := newProbe(t, base, fakeapi.WithoutControllers())
			a := p.do("POST", configMapsPath, mediaJSON, mediaJSON, []byte(`{"metadata":{"name":"bb"}}`))
			require.Equal(t, http.StatusCreated, a.code)
			a = p.do("GET", paths[path%3]+"?limit="+strconv.FormatInt(limit%4, 10)+"&continue="+url.QueryEscape(raw), "", mediaJSON, nil)
			if a.code != http.StatusOK {
				require.Contains(t, []int{http.StatusBadRequest, http.StatusGone, http.StatusGatewayTimeout}, a.code)
				return
			}
			var shown []string
			for pages := 0; ; pages++ {
				require.Less(t, pages, 10)
				for _, item := range listItems(a.object) {
					shown = append(shown, objectKey(item))
				}
				token := stringsAt(a.object, "metadata")["continue"]
				if token == "" {
					break
				}
				a = p.do("GET", paths[path%3]+"?limit=2&continue="+url.QueryEscape(token), "", mediaJSON, nil)
				require.Equal(t, http.StatusOK, a.code, "%s", a.body)
			}
			require.Equal(t, keysAfter(p, paths[path%3], revision, start), shown)
		})
	})
}

// keysAfter returns the keys of a collection from start, at a revision, or at the newest one if
// revision is negative.
func keysAfter(p probe, path string, revision int64, start string) (keys []string) {
	namespace := strings.TrimSuffix(strings.TrimPrefix(path, "/api/v1/namespaces/"), "/configmaps")
	for _, item := range listItems(p.do("GET", path, "", mediaJSON, nil).object) {
		created, err := strconv.ParseInt(stringsAt(item, "metadata")["resourceVersion"], 10, 64)
		require.NoError(p.t, err)
		key := objectKey(item)
		below := strings.TrimPrefix(key, namespace+"/")
		if (revision < 0 || created <= revision) && below >= strings.TrimPrefix(start, "/") {
			keys = append(keys, key)
		}
	}
	require.True(p.t, slices.IsSorted(keys))
	return keys
}
