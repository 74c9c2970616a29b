package httpdiff

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// value decodes JSON with Decode.
func value(t *testing.T, text string) any {
	t.Helper()
	var v any
	require.NoError(t, Decode([]byte(text), &v))
	return v
}

const (
	uidA = "01234567-89ab-cdef-0123-456789abcdef"
	uidB = "11234567-89ab-cdef-0123-456789abcdef"
)

// match requires that right matches left.
func match(t *testing.T, p *Placeholders, left, right string) {
	t.Helper()
	contradiction, same := p.Match(left, right)
	require.Empty(t, contradiction)
	require.True(t, same)
}

func TestCompare(t *testing.T) {
	for _, test := range []struct{ want, got, different string }{
		{`{"a": 1, "b": [true, null]}`, `{"b": [true, null], "a": 1}`, ""},
		{`1`, `1.0`, "want 1 got 1.0"},
		{`null`, `{}`, "want null got {}"},
		{`{}`, `null`, "want {} got null"},
		{`[]`, `{}`, "want [] got {}"},
		{`"1"`, `1`, `want "1" got 1`},
		{`true`, `false`, "want true got false"},
		{`{"a": 1}`, `{}`, "v.a: missing, want 1"},
		{`{}`, `{"a": 1}`, "v.a: unexpected 1"},
		{`[1, 2]`, `[1]`, "v: 1 items for 2"},
		{`[1, [2]]`, `[1, [3]]`, "v[1][0]: want 2 got 3"},
		{`["a", "b", "c"]`, `["a", "c"]`, "v[1]: missing, want \"b\""},
		{`[{"name": "a", "n": 1}, {"name": "b", "n": 2}]`, `[{"name": "b", "n": 3}]`, "v[1].n: want 2 got 3"},
		{`[{"metadata": {"name": "a"}}]`, `[{"metadata": {"name": "b"}}, {"metadata": {"name": "a"}}]`, "v[0]: unexpected"},
		{`["a", "a"]`, `["a"]`, "v: 1 items for 2"},
		{`"$ns/a"`, `"space/a"`, ""},
		{`"$ns/a"`, `"other/a"`, "want"},
		{`"$nsx"`, `"$nsx"`, ""},
		{`"$patch"`, `"$patch"`, ""},
		{`"$patch"`, `"x"`, "want"},
		{`"a.b"`, `"axb"`, "want"},
		{`"at $time."`, `"at 2026-01-02T03:04:05Z."`, ""},
		{`"at $time."`, `"at noon."`, "want"},
		{`"$time"`, `"2026-01-02T03:04:05.123456Z"`, ""},
		{`"$age"`, `"5m3s"`, ""},
		{`"$age"`, `""`, "want"},
		{`"$gitVersion"`, `"v1"`, ""},
		{`"$gitVersion"`, `""`, "want"},
		{`"g-$rand1"`, `"g-ab1cd"`, ""},
		{`"g-$rand1"`, `"g-ab1c"`, "want"},
		{`"$rv1 of\n$rv1"`, `"7 of\n7"`, ""},
		{`["$rv1", "$rv1"]`, `["1", "2"]`, "v[1]: $rv1 was 1 and is now 2"},
		{`["$rv1", "$rv2"]`, `["1", "1"]`, "v[1]: $rv1 and $rv2 are both 1"},
		{`["$uid1", "$uid2", "$uid1"]`, `["` + uidA + `", "` + uidB + `", "` + uidA + `"]`, ""},
		{`["$uid1", "$uid1"]`, `["` + uidA + `", "` + uidB + `"]`, "$uid1 was " + uidA},
		{`["$uid1", "$uid2"]`, `["` + uidA + `", "` + uidA + `"]`, "both"},
		{`["$hash1", "$hash2"]`, `["A", "A"]`, ""},
		{`{"k:$uid1": 1}`, `{"k:` + uidA + `": 1}`, ""},
		{`{"k:$uid1": 1}`, `{"k:` + uidA + `": 2}`, "v.k:$uid1: want 1 got 2"},
		{`{"k:$uid1": 1}`, `{"k:": 1}`, "v.k:$uid1: missing, want 1"},
	} {
		var d Differences
		NewPlaceholders("space", true).Compare("v", value(t, test.want), value(t, test.got), &d)
		if test.different == "" {
			require.Empty(t, d, "%s and %s", test.want, test.got)
		} else {
			require.Contains(t, strings.Join(d.Lines(), "\n"), test.different, "%s and %s", test.want, test.got)
		}
	}
}

func TestResourceVersionsNeedNotBeEqual(t *testing.T) {
	p := NewPlaceholders("space", false)
	match(t, p, "$rv1 $rv2 $rv1", "5 5 6")
	_, same := p.Match("$rv1", "x")
	require.False(t, same)
	text, err := p.Expand("/a?resourceVersion=$rv1")
	require.NoError(t, err)
	require.Equal(t, "/a?resourceVersion=5", text, "the first value is kept")
}

func TestExpand(t *testing.T) {
	p := NewPlaceholders("space", false)
	match(t, p, `$continue(v=1 rv=$rv1 start=a\0)`, "abc=")
	match(t, p, "$etag1", `"E"`)
	for text, want := range map[string]string{
		"/$ns/x":                               "/space/x",
		`$continue(v=1 rv=$rv1 start=a\0)&b=1`: "abc%3D&b=1",
		"$etag1":                               `"E"`,
		`$patch $deleteFromPrimitiveList/x`:    `$patch $deleteFromPrimitiveList/x`,
		`$token(v=v2 rv=-1 start=$ns/a\u0000)`: "eyJ2IjoidjIiLCJydiI6LTEsInN0YXJ0Ijoic3BhY2UvYVx1MDAwMCJ9",
		`$token(v=v2 rv=5 start=)`:             "eyJ2IjoidjIiLCJydiI6NSwic3RhcnQiOiIifQ",
	} {
		got, err := p.Expand(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	match(t, p, `$continue(v=1 rv=$rv1 start=a\0)`, "newer")
	got, err := p.Expand(`$continue(v=1 rv=$rv1 start=a\0)`)
	require.NoError(t, err)
	require.Equal(t, "newer", got)
	_, err = p.Expand("/x?resourceVersion=$rv9")
	require.ErrorContains(t, err, "no response so far contained $rv9")
}

func TestCompareHeaders(t *testing.T) {
	want := map[string][]string{"Content-Type": {"text/plain"}, "Warning": {"299 - \"a\"", "299 - \"b\""}, "Etag": {"$etag1"}, "Vary": {"x"}}
	names := []string{"Content-Type", "Retry-After", "Warning"}
	same := http.Header{"Content-Type": {"text/plain"}, "Warning": {"299 - \"a\"", "299 - \"b\""}, "Etag": {`"1"`}, "Date": {"today"}}
	p := NewPlaceholders("space", false)
	var d Differences
	p.CompareHeaders(names, want, same, &d)
	require.Empty(t, d)
	require.Equal(t, `"1"`, p.values["$etag1"])

	p.CompareHeaders(names, want, http.Header{"Content-Type": {"text/plain"}, "Warning": {"299 - \"b\"", "299 - \"a\""}, "Retry-After": {"1"}}, &d)
	require.Len(t, d, 2)
	require.Contains(t, d[0].String(), `header Retry-After: unexpected ["1"]`)
	require.Contains(t, d[1].String(), "header Warning: want")
}

func TestCanonical(t *testing.T) {
	c := NewCanonicalizer([]string{"metadata.managedFields", "odd"})
	for _, test := range []struct{ a, b string }{
		{`{"metadata": {"name": "a", "managedFields": [1]}, "odd": 1}`, `{"metadata": {"name": "a"}}`},
		{`{"items": [{"metadata": {"managedFields": []}}]}`, `{"items": [{"metadata": {}}]}`},
		{`{"metadata": [{"managedFields": 1}]}`, `{"metadata": [{"managedFields": 1}]}`},
		{
			`{"kind": "Status", "details": {"causes": [{"field": "b"}, {"field": "a"}]}, "message": "x \"y\" is invalid: [b: no, a: no]"}`,
			`{"kind": "Status", "details": {"causes": [{"field": "a"}, {"field": "b"}]}, "message": "x \"y\" is invalid: [a: no, b: no]"}`,
		},
		{
			`{"kind": "APIResourceList", "resources": [{"name": "b"}, {"name": "a"}]}`,
			`{"kind": "APIResourceList", "resources": [{"name": "a"}, {"name": "b"}]}`,
		},
		{
			`{"kind": "APIGroupDiscoveryList", "items": [{"versions": [{"resources": [{"resource": "b"}, {"resource": "a"}]}]}]}`,
			`{"kind": "APIGroupDiscoveryList", "items": [{"versions": [{"resources": [{"resource": "a"}, {"resource": "b"}]}]}]}`,
		},
		{`{"kind": "List", "resources": [{"name": "b"}, {"name": "a"}]}`, `{"kind": "List", "resources": [{"name": "b"}, {"name": "a"}]}`},
		{`null`, `null`},
	} {
		before := value(t, test.a)
		require.Equal(t, value(t, test.b), c.Body(before))
		require.Equal(t, value(t, test.a), before, "the value must not be modified")
		event := map[string]any{"type": "ADDED", "object": value(t, test.a)}
		require.Equal(t, map[string]any{"type": "ADDED", "object": value(t, test.b)}, c.Event(event))
	}
}

func TestShort(t *testing.T) {
	require.Equal(t, `"a"`, Short("a"))
	require.Less(t, len(Short(strings.Repeat("a", 1000))), 320)
}
