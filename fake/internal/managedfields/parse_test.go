package managedfields

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"example.com/fakeapi/fake/internal/resource/builtin"
)

var accepted = []string{
	`{"f:metadata":{"f:labels":{".":{},"f:a":{}}}}`,
	`{"f:metadata":{"f:finalizers":{".":{},"v:\"\"":{},"v:\"a\"":{}}}}`,
	`{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{}},"k:{\"name\":\"b\"}":{}}}}`,
	`{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:ports":{"k:{\"containerPort\":9,\"protocol\":\"TCP\"}":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{}}}}}}`,
	`{"f:status":{}}`,
}

func TestParse(t *testing.T) {
	p := podPlan(t)
	for _, raw := range accepted {
		set, ok := parse(p, raw, nil, newNodeArena())
		require.True(t, ok, raw)
		require.Equal(t, raw, string(encode(set)))
	}
	for _, raw := range []string{
		``, `{`, `{}`, `null`, `[]`, `{".":{}}`, `{".":{},"f:spec":{}}`,
		` {"f:spec":{}}`, `{"f:spec":{}} `, `{"f:spec":{} }`, `{"f:spec":{},}`, `{"f:spec":null}`,
		`{"f:spec":{".":{}}}`,
		`{"f:status":{},"f:spec":{}}`,
		`{"f:spec":{},"f:spec":{}}`,
		`{"f:bogus":{}}`,
		`{"f:metadata":{"f:name":{}}}`,
		`{"f:metadata":{"f:labels":{"f:\u0061":{}}}}`,
		`{"f:spec":{"f:nodeSelector":{"f:a":{}}}}`,
		`{"f:spec":{"f:hostname":{"f:a":{}}}}`,
		`{"f:spec":{"f:containers":{"i:0":{}}}}`,
		`{"f:spec":{"f:containers":{"k:{\"name\":\"b\"}":{},"k:{\"name\":\"a\"}":{}}}}`,
		`{"f:spec":{"f:containers":{"k:{\"name\":1}":{},"k:{}":{}}}}`,
		`{"f:spec":{"f:containers":{"k:{\"name\":1}":{}}}}`,
		`{"f:metadata":{"f:finalizers":{"v:1":{}}}}`,
		`{"f:spec":{"f:containers":{"k:{\"name\": \"a\"}":{}}}}`,
		`{"f:spec":{"f:containers":{"k:{\"name\":\"a\",\"x\":\"b\"}":{}}}}`,
		`{"f:spec":{"f:containers":{"k:{\"name\":\"<\"}":{}}}}`,
		`{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:ports":{"k:{\"containerPort\":08,\"protocol\":\"TCP\"}":{}}}}}}`,
		`{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:ports":{"k:{\"containerPort\":1e3,\"protocol\":\"TCP\"}":{}}}}}}`,
		`{"f:metadata":{"f:finalizers":{"v:\"b\"":{},"v:\"a\"":{}}}}`,
	} {
		_, ok := parse(p, raw, nil, newNodeArena())
		require.False(t, ok, raw)
	}
}

func podPlan(t testing.TB) *plan {
	tracker, err := BuiltinFieldManager(builtin.Table().Lookup("", "v1", "pods"), "")
	require.NoError(t, err)
	return tracker.whole
}

// What parse accepts, the library reads and writes again unchanged.
func FuzzParse(f *testing.F) {
	for _, raw := range accepted {
		f.Add(raw)
	}
	p := podPlan(f)
	f.Fuzz(func(t *testing.T, raw string) {
		set, ok := parse(p, raw, nil, newNodeArena())
		if !ok {
			return
		}
		require.Equal(t, raw, string(encode(set)))
		var library fieldpath.Set
		require.NoError(t, library.FromJSON(strings.NewReader(raw)))
		again, err := library.ToJSON()
		require.NoError(t, err)
		require.True(t, bytes.Equal([]byte(raw), again), "%s\n%s", raw, again)
	})
}
