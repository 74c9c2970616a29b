package fakeapi_test

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

// A list that goes on with a token that somebody has made up is refused with 400, 410 or, for a
// revision of the future, 504; or it shows what there is behind the token's start, of the namespace
// of the path alone, at the token's revision, page by page to the end, each object once.
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
	base := baseOf(f, selectable()...)
	paths := []string{limitMaps, "/api/v1/configmaps", "/api/v1/namespaces/other/configmaps"}
	f.Fuzz(func(t *testing.T, path uint8, version string, revision int64, start, raw string, limit int64) {
		if raw == "" {
			inside, err := json.Marshal(map[string]any{"v": version, "rv": revision, "start": start})
			require.NoError(t, err)
			raw = base64.RawURLEncoding.EncodeToString(inside)
			start = strings.ToValidUTF8(start, "\ufffd") // as it stands in JSON
		} else {
			revision, start = -1, ""
		}
		synctest.Test(t, func(t *testing.T) {
			p := forkOf(t, base, fakeapi.WithoutControllers())
			a := p.ask("POST", limitMaps, inJSON, inJSON, []byte(`{"metadata":{"name":"bb"}}`))
			require.Equal(t, http.StatusCreated, a.code)
			a = p.ask("GET", paths[path%3]+"?limit="+strconv.FormatInt(limit%4, 10)+"&continue="+url.QueryEscape(raw), "", inJSON, nil)
			if a.code != http.StatusOK {
				require.Contains(t, []int{http.StatusBadRequest, http.StatusGone, http.StatusGatewayTimeout}, a.code)
				return
			}
			var shown []string
			for pages := 0; ; pages++ {
				require.Less(t, pages, 10)
				for _, item := range itemsOf(a.object) {
					shown = append(shown, keyOf(item))
				}
				token := texts(a.object, "metadata")["continue"]
				if token == "" {
					break
				}
				a = p.ask("GET", paths[path%3]+"?limit=2&continue="+url.QueryEscape(token), "", inJSON, nil)
				require.Equal(t, http.StatusOK, a.code, "%s", a.body)
			}
			require.Equal(t, behind(p, paths[path%3], revision, start), shown)
		})
	})
}

// behind are the keys of a collection from a start on, at a revision, or now if that is negative.
func behind(p probe, path string, revision int64, start string) (keys []string) {
	namespace := strings.TrimSuffix(strings.TrimPrefix(path, "/api/v1/namespaces/"), "/configmaps")
	for _, item := range itemsOf(p.ask("GET", path, "", inJSON, nil).object) {
		created, err := strconv.ParseInt(texts(item, "metadata")["resourceVersion"], 10, 64)
		require.NoError(p.t, err)
		key := keyOf(item)
		below := strings.TrimPrefix(key, namespace+"/")
		if (revision < 0 || created <= revision) && below >= strings.TrimPrefix(start, "/") {
			keys = append(keys, key)
		}
	}
	require.True(p.t, slices.IsSorted(keys))
	return keys
}
