package patch

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// A JSON patch is refused if it would copy long lists too often, and only then.
func TestJSONPatchIsBounded(t *testing.T) {
	newObject := func(n int) *unstructured.Unstructured {
		list := make([]any, n)
		for i := range list {
			list[i] = int64(1)
		}
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "List", "l": list}}
	}
	const many = 300_000
	for _, tt := range []struct {
		op       string
		n, size  int
		tooLarge bool
	}{
		{`{"op":"add","path":"/l/0","value":1}`, 1000, 1000, false},
		{`{"op":"add","path":"/l/0","value":1}`, 10, many, false},
		{`{"op":"add","path":"/l/0","value":1}`, 1000, many, true},
		{`{"op":"add","path":"/l/-","value":1}`, 1000, many, false},
		{`{"op":"replace","path":"/l/0","value":1}`, 1000, many, false},
		{`{"op":"remove","path":"/l/0"}`, 1000, many, true},
		{`{"op":"move","from":"/l/0","path":"/l/1"}`, 100, many, true},
		{`{"op":"copy","from":"/l/0","path":"/m"}`, 2, many, false},
		{`{"op":"copy","from":"/l/0","path":"/m"}`, 1000, many, true},
		{`{"op":"copy","from":"/l/0","path":"/m"}`, 1000, 100, false},
	} {
		body := "[" + strings.Repeat(tt.op+",", tt.n-1) + tt.op + "]"
		p, err := Parse(types.JSONPatchType, []byte(body), false)
		require.NoError(t, err)
		_, err = p.Apply(newObject(tt.size))
		require.Equal(t, tt.tooLarge, apierrors.IsRequestEntityTooLargeError(err), "%d of %s: %v", tt.n, tt.op, err)
		if !tt.tooLarge {
			require.NoError(t, err, tt.op)
		}
	}
}
