package fastpath

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// validSets are sets of fields of a Pod.
var validSets = []string{
	`{"f:metadata":{"f:labels":{".":{},"f:a":{}}}}`,
	`{"f:metadata":{"f:finalizers":{".":{},"v:\"\"":{},"v:\"a\"":{}}}}`,
	`{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{}},"k:{\"name\":\"b\"}":{}}}}`,
	`{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:ports":{"k:{\"containerPort\":9,\"protocol\":\"TCP\"}":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{}}}}}}`,
	`{"f:status":{}}`,
}

func TestParse(t *testing.T) {
	p := podPlan(t)
	for _, raw := range validSets {
		set, ok := parse(p, raw, nil, &nodeArena{})
		require.True(t, ok, raw)
		require.Equal(t, raw, string(appendSet(nil, set, false)))
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
		_, ok := parse(p, raw, nil, &nodeArena{})
		require.False(t, ok, raw)
	}
}

func podPlan(t testing.TB) *plan {
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	podType := NewType(applyconfigurations.NewTypeConverter(scheme.Scheme), pod)
	require.NotNil(t, podType)
	return podType.plan
}

// FuzzParse checks that the library decodes and encodes what parse accepts without a change.
func FuzzParse(f *testing.F) {
	for _, raw := range validSets {
		f.Add(raw)
	}
	p := podPlan(f)
	f.Fuzz(func(t *testing.T, raw string) {
		set, ok := parse(p, raw, nil, &nodeArena{})
		if !ok {
			return
		}
		require.Equal(t, raw, string(appendSet(nil, set, false)))
		var library fieldpath.Set
		require.NoError(t, library.FromJSON(strings.NewReader(raw)))
		again, err := library.ToJSON()
		require.NoError(t, err)
		require.True(t, bytes.Equal([]byte(raw), again), "%s\n%s", raw, again)
	})
}
