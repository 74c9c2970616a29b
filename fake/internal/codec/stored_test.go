package codec

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/memstore"
)

func TestDecodeMetadata(t *testing.T) {
	want := metav1.ObjectMeta{
		Name:                       "p",
		UID:                        "a-uid",
		DeletionTimestamp:          &metav1.Time{Time: metav1.Unix(1000, 0).Local()},
		DeletionGracePeriodSeconds: new(int64(30)),
		OwnerReferences:            []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "o", UID: "owner"}},
		Finalizers:                 []string{"example.com/last"},
	}
	pod := &corev1.Pod{ObjectMeta: *want.DeepCopy(), Spec: corev1.PodSpec{NodeName: "n"}}
	// Strings that look like the end of the metadata.
	pod.Annotations = map[string]string{"a": `}}","\`, `{"b`: `"}`}
	draft, err := EncodeDraft(builtin.Table().LookupKind(corev1.SchemeGroupVersion.WithKind("Pod")), pod, nil)
	require.NoError(t, err)

	got, err := DecodeMetadata(&memstore.Record{Data: draft.Data})
	require.NoError(t, err)
	require.Equal(t, &want, got)
}

// EncodeDraft and the insertion of the resourceVersion rely on metadata being the first field of
// every built-in type.
func TestMetadataIsFirst(t *testing.T) {
	for _, r := range builtin.Table().Stored() {
		obj, err := r.Scheme.New(r.StorageVersion.WithKind(r.Kind))
		require.NoError(t, err)
		obj.(metav1.Object).SetUID("a-uid")
		draft, err := EncodeDraft(r, obj, nil)
		require.NoError(t, err, r.Kind)
		got, err := DecodeMetadata(&memstore.Record{Data: draft.Data})
		require.NoError(t, err, r.Kind)
		require.EqualValues(t, "a-uid", got.UID, r.Kind)
	}
}

// The metadata of a custom resource may follow other fields.
func TestDecodeMetadataOfCustomResource(t *testing.T) {
	data := `{"apiVersion":"v1","data":{"metadata":{"uid":"x"},"l":[{"metadata":{}}],"s":"\"metadata\":{"},"kind":"metadata","metadata":{"uid":"a-uid"},"spec":{}}`
	got, err := DecodeMetadata(&memstore.Record{Data: []byte(data)})
	require.NoError(t, err)
	require.EqualValues(t, "a-uid", got.UID)
}

func TestDecodeMetadataErrors(t *testing.T) {
	_, err := DecodeMetadata(&memstore.Record{Key: "pods/a/b", Data: []byte(`{"spec":{"metadata":{}}}`)})
	require.EqualError(t, err, "stored pods/a/b has no metadata")
	_, err = DecodeMetadata(&memstore.Record{Key: "pods/a/b", Data: []byte(`{"metadata":{"name":1}}`)})
	require.ErrorContains(t, err, "the metadata of stored pods/a/b does not decode: ")
}
