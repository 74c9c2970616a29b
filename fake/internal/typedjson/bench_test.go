package typedjson_test

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	kjson "sigs.k8s.io/json"

	"example.com/fakeapi/fake/internal/typedjson"
)

// Benchmark compares a Deployment with the libraries, and with a deep copy.
func Benchmark(b *testing.B) {
	data, err := os.ReadFile("testdata/deployment.json")
	require.NoError(b, err)
	var obj appsv1.Deployment
	require.NoError(b, json.Unmarshal(data, &obj))
	data, err = json.Marshal(&obj)
	require.NoError(b, err)
	typ := new(typedjson.Types).NewType(reflect.TypeFor[appsv1.Deployment]())
	var buffer []byte
	for name, f := range map[string]func() bool{
		"decode":         func() bool { return typ.Decode(data, new(appsv1.Deployment)) },
		"decode/strict":  func() bool { _, err := kjson.UnmarshalStrict(data, new(appsv1.Deployment)); return err == nil },
		"decode/library": func() bool { return kjson.UnmarshalCaseSensitivePreserveInts(data, new(appsv1.Deployment)) == nil },
		"deepcopy":       func() bool { return obj.DeepCopy() != nil },
		"encode":         func() (ok bool) { buffer, ok = typ.Append(buffer[:0], &obj); return ok },
		"encode/library": func() bool { _, err := json.Marshal(&obj); return err == nil },
		"merge":          func() bool { return typ.Merge([]byte(`{"spec":{"replicas":4}}`), obj.DeepCopy()) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !f() {
					b.Fatal("not supported")
				}
			}
		})
	}
}
