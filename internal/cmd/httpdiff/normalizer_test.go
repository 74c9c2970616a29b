package httpdiff

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The normalized response of one server matches the response of another.
func TestNormalizer(t *testing.T) {
	for name, test := range map[string]struct{ left, right, want string }{
		"uids": {
			`{"metadata":{"uid":"` + uidA + `"},"message":"is ` + uidA + `"}`, `{"metadata":{"uid":"` + uidB + `"},"message":"is ` + uidB + `"}`,
			`{"metadata":{"uid":"$uid1"},"message":"is $uid1"}`,
		},
		"versions of objects": {
			`[{"uid":"` + uidA + `","resourceVersion":"7"},{"uid":"` + uidA + `","resourceVersion":"8"}]`,
			`[{"uid":"` + uidB + `","resourceVersion":"90"},{"uid":"` + uidB + `","resourceVersion":"93"}]`,
			`[{"uid":"$uid1","resourceVersion":"$rv1"},{"uid":"$uid1","resourceVersion":"$rv2"}]`,
		},
		"versions of lists": {
			`[{"resourceVersion":"7"},{"resourceVersion":"7"},{"resourceVersion":"0"},{"resourceVersion":"abc"}]`,
			`[{"resourceVersion":"8"},{"resourceVersion":"9"},{"resourceVersion":"0"},{"resourceVersion":"abc"}]`,
			`[{"resourceVersion":"$revision"},{"resourceVersion":"$revision"},{"resourceVersion":"0"},{"resourceVersion":"abc"}]`,
		},
		"versions in messages": {
			`["Too large resource version: 1007, current: 7","too old resource version: 1 (7)","no more than 63 characters"]`,
			`["Too large resource version: 1099, current: 99","too old resource version: 1 (99)","no more than 63 characters"]`,
			`["Too large resource version: $revision, current: $revision","too old resource version: $revision ($revision)","no more than 63 characters"]`,
		},
		"times": {
			`["2026-01-02T03:04:05Z","2026-01-02T03:04:05.123456Z"]`, `["2027-01-02T03:04:05Z","2027-01-02T03:04:05.654321Z"]`, `["$time","$microtime"]`,
		},
		"generated names": {
			`{"generateName":"g-","name":"g-bcdfg","message":"\"g-bcdfg\" is there"}`, `{"generateName":"g-","name":"g-xz245","message":"\"g-xz245\" is there"}`,
			`{"generateName":"g-","name":"g-$rand1","message":"\"g-$rand1\" is there"}`,
		},
		"tokens": {
			`{"continue":"abc","next":"?limit=1&continue=abc"}`, `{"continue":"xyz","next":"?limit=1&continue=xyz"}`,
			`{"continue":"$continue(1)","next":"?limit=1&continue=$continue(1)"}`,
		},
		"no token": {`{"continue":""}`, `{"continue":""}`, `{"continue":""}`},
		"ages":     {`{"cells":["a","5m3s"]}`, `{"cells":["a","1s"]}`, `{"cells":["a","$age"]}`},
		"the release": {
			`{"gitVersion":"v1.37.2","gitTreeState":"clean","platform":""}`, `{"gitVersion":"v2","gitTreeState":"clean","platform":""}`,
			`{"gitVersion":"$gitVersion","gitTreeState":"clean","platform":""}`,
		},
		"hashes":  {`["/x?hash=AB12"]`, `["/x?hash=CD34"]`, `["/x?hash=$hash1"]`},
		"numbers": {`["in space-12, space-12 and space-13"]`, `["in space-2, space-2 and space-3"]`, `["in space-$num1, space-$num1 and space-$num2"]`},
		"keys":    {`{"k:{\"uid\":\"` + uidA + `\"}":{}}`, `{"k:{\"uid\":\"` + uidB + `\"}":{}}`, `{"k:{\"uid\":\"$uid1\"}":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			left := value(t, test.left)
			written := NewNormalizer(regexp.MustCompile(`space-(\d+)`)).Value(left)
			require.Equal(t, value(t, test.want), written)
			require.Equal(t, value(t, test.left), left, "the value must not be modified")
			var d Differences
			NewPlaceholders("", true).Compare("v", written, value(t, test.right), &d)
			require.Empty(t, d.Lines())
		})
	}
}

// Equal values on the left must be equal on the right, and different values must differ.
func TestNormalizerDistinguishesValues(t *testing.T) {
	for _, test := range []struct{ left, right string }{
		{`["` + uidA + `","` + uidA + `"]`, `["` + uidA + `","` + uidB + `"]`},
		{`["` + uidA + `","` + uidB + `"]`, `["` + uidA + `","` + uidA + `"]`},
		{`[{"uid":"","resourceVersion":"1"},{"uid":"","resourceVersion":"1"}]`, `[{"uid":"","resourceVersion":"1"},{"uid":"","resourceVersion":"2"}]`},
		{`["2026-01-02T03:04:05.123456Z"]`, `["2026-01-02T03:04:05Z"]`},
		{`{"resourceVersion":"7"}`, `{"resourceVersion":"x"}`},
	} {
		var d Differences
		NewPlaceholders("", true).Compare("v", NewNormalizer().Value(value(t, test.left)), value(t, test.right), &d)
		require.NotEmpty(t, d, test.left)
	}
}

func TestNormalizerHeaders(t *testing.T) {
	written := NewNormalizer().Headers(http.Header{"Etag": {`"A"`}, "Warning": {"299 - \"" + uidA + "\""}}, "Etag", "Audit-Id")
	require.Equal(t, map[string][]string{"Etag": {"$opaque"}, "Warning": {"299 - \"$uid1\""}}, written)
}
