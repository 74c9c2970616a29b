package fakeapi_test

import (
	"errors"
	"io"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/internal/dev/builtintypes/manifests"
)

// newObject returns a valid object of a type, without status. A ResourceQuota has no limits, so
// that no controller writes its status.
func newObject(t testing.TB, res *resource.Resource, name string) *unstructured.Unstructured {
	t.Helper()
	all, err := manifests.Files()
	require.NoError(t, err)
	names, err := fs.Glob(all, "*.yaml")
	require.NoError(t, err)
	for _, file := range names {
		if found := findKind(t, all, file, res); found != nil {
			found.SetName(name)
			if res.Kind == "ResourceQuota" {
				unstructured.RemoveNestedField(found.Object, "spec")
			}
			return found
		}
	}
	require.FailNow(t, "no manifest", "of %s", res.GroupVersionKind())
	return nil
}

// findKind returns the first object of the type in a manifest, nil if there is none.
func findKind(t testing.TB, all fs.FS, file string, res *resource.Resource) *unstructured.Unstructured {
	manifest, err := all.Open(file)
	require.NoError(t, err)
	defer func() { require.NoError(t, manifest.Close()) }()
	for documents := yaml.NewYAMLOrJSONDecoder(manifest, 4096); ; {
		obj := &unstructured.Unstructured{}
		err := documents.Decode(&obj.Object)
		if errors.Is(err, io.EOF) {
			return nil
		}
		require.NoError(t, err, file)
		if obj.GroupVersionKind() == res.GroupVersionKind() {
			return obj
		}
	}
}

// newTypedObject is newObject as an object of the Go type.
func newTypedObject(t testing.TB, res *resource.Resource, name string) runtime.Object {
	t.Helper()
	obj := res.New()
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(newObject(t, res, name).Object, obj))
	return obj
}
