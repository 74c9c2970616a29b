package resource

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
)

// prepareStatusUpdate has the result of copying and decoding everything, and does not change old.
func TestPrepareStatusUpdate(t *testing.T) {
	parse := func(text string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &u.Object))
		return u
	}
	const old = `{"apiVersion":"example.com/v1","kind":"K","metadata":{"name":"a","resourceVersion":"7","labels":{"x":"y"},
		"managedFields":[{"manager":"m","operation":"Update","apiVersion":"example.com/v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]},
		"spec":{"a":[1]},"status":{"old":true}}`
	for _, text := range []string{
		old,
		`{"apiVersion":"example.com/v1","kind":"K","metadata":{"name":"b","resourceVersion":"8"},"spec":{"a":2},"status":{"new":true}}`,
		`{"metadata":{"managedFields":[]}}`,
		`{"metadata":{"managedFields":null},"status":null}`,
		`{"metadata":{"managedFields":"x"},"status":1}`,
		`{"metadata":{"managedFields":[1]}}`,
		`{"metadata":{"managedFields":[{}]}}`,
		`{"metadata":{"managedFields":[{"manager":"","time":null,"x":"y","fieldsV1":{"f:a":{".":{}}}}]}}`,
		`{"metadata":{"managedFields":[{"manager":1}]}}`,
		`{"metadata":{"managedFields":[{"manager":"m","time":"2026-01-01T01:00:00+01:00"}],"resourceVersion":""}}`,
		`{"metadata":null}`,
	} {
		obj, stored := parse(text), parse(old)
		want := copiedStatusUpdate(parse(text), parse(old))
		prepareStatusUpdate(obj, stored)
		require.Equal(t, want, obj, text)
		obj.SetResourceVersion("9")
		require.Equal(t, parse(old), stored, text)
	}
}

// copiedStatusUpdate is prepareStatusUpdate without shared values.
func copiedStatusUpdate(obj, old *unstructured.Unstructured) *unstructured.Unstructured {
	status, hasStatus := obj.Object["status"]
	managedFields, revision := obj.GetManagedFields(), obj.GetResourceVersion()
	obj.Object = old.DeepCopy().Object
	obj.SetManagedFields(managedFields)
	obj.SetResourceVersion(revision)
	if hasStatus {
		obj.Object["status"] = status
	} else {
		delete(obj.Object, "status")
	}
	return obj
}
