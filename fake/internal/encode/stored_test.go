package encode

import (
	"math/rand"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/memstore"
)

// words are values that printers look for, and texts that need escapes.
var words = []string{
	"", "a", "app", "Ready", "True", "False", "Running", "Succeeded", "Initialized", "PodScheduled", "SchedulingGated", "Always", "ClusterIP",
	"LoadBalancer", "NodePort", "ExternalName", "Complete", "Failed", "InternalIP", "ExternalIP", "In", "Exists", "Healthy", "node-role.kubernetes.io/x",
	"storageclass.kubernetes.io/is-default-class", "true", "<b>", `"`, `\`, `\"`, "}", "{", "é\u2028", "a\tb",
}

// fill fills an object with random values.
func fill(obj runtime.Object, seed int64) {
	rng := rand.New(rand.NewSource(seed))
	word := func() string { return words[rng.Intn(len(words))] }
	filler := randfill.New().RandSource(rng).NilChance(0.4).NumElements(0, 3).MaxDepth(12).Funcs(
		func(s *string, _ randfill.Continue) { *s = word() },
		func(q *apiresource.Quantity, c randfill.Continue) {
			*q = *apiresource.NewMilliQuantity(c.Int63n(9)*500, apiresource.DecimalSI)
		},
		func(t *metav1.Time, c randfill.Continue) { t.Time = time.Unix(c.Int63n(3)*3600, 0) },
		func(t *metav1.MicroTime, c randfill.Continue) { t.Time = time.Unix(c.Int63n(3)*3600, 5000) },
		func(v *intstr.IntOrString, c randfill.Continue) {
			if *v = intstr.FromInt32(c.Int31n(3)); c.Bool() {
				*v = intstr.FromString(word())
			}
		},
		func(r *runtime.RawExtension, _ randfill.Continue) { r.Raw = []byte(`{"a":[1,null]}`) },
		func(f *metav1.FieldsV1, _ randfill.Continue) {
			f.SetRawBytes([]byte(`{"f:metadata":{"f:name":{},"k:{\"a\":\"}\"}":{}}}`))
		},
		func(j *apiextensionsv1.JSON, _ randfill.Continue) { j.Raw = []byte(`{"default":"}"}`) },
		func(i *int32, c randfill.Continue) { *i = c.Int31n(9) - 1 },
		func(i *int64, c randfill.Continue) { *i = c.Int63n(9) - 1 },
	)
	filler.Fill(obj)
	replaceTexts(reflect.ValueOf(obj), word)
}

// replaceTexts replaces values of types such as PodPhase, for which the filler generates any text.
func replaceTexts(v reflect.Value, word func() string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			replaceTexts(v.Elem(), word)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			replaceTexts(v.Field(i), word)
		}
	case reflect.Slice:
		for i := range v.Len() {
			replaceTexts(v.Index(i), word)
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(word())
		}
	}
}

// store returns the record of an object.
func store(t *testing.T, res *resource.Resource, obj runtime.Object) *memstore.Record {
	t.Helper()
	draft, err := codec.EncodeDraft(res, obj, nil)
	require.NoError(t, err)
	event, err := memstore.New(memstore.Options{}).Update("x/y", func(*memstore.Record) (*memstore.Draft, error) { return draft, nil })
	require.NoError(t, err)
	return event.Record
}

// forRandomObjects calls f with records of random objects of each built-in type.
func forRandomObjects(t *testing.T, n int, f func(t *testing.T, res *resource.Resource, rec *memstore.Record)) {
	for _, res := range builtin.Table().Stored() {
		t.Run(res.GroupResource().String(), func(t *testing.T) {
			t.Parallel()
			kind := res.StorageVersion.WithKind(res.Kind)
			for i := range n {
				obj, err := res.Scheme.New(kind)
				require.NoError(t, err)
				fill(obj, int64(i))
				f(t, res, store(t, res, obj))
			}
		})
	}
}

// No printer reads the fields that are left out when a record is decoded for a row.
func TestRowsOfStoredObjects(t *testing.T) {
	forRandomObjects(t, 60, func(t *testing.T, res *resource.Resource, rec *memstore.Record) {
		printer := newPrinter(res)
		obj, err := codec.DecodeStored(res, rec)
		require.NoError(t, err)
		want, err := printer.AppendRow(nil, obj)
		require.NoError(t, err)
		obj, err = codec.DecodeStoredWithout(res, rec, printer.NotPrinted())
		require.NoError(t, err)
		got, err := printer.AppendRow(nil, obj)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "%s", rec.Data)
	})
}

// The metadata in the stored form is what encoding the metadata of the object results in.
func TestMetadataOfStoredObjects(t *testing.T) {
	out := negotiate.Output{Form: negotiate.Partial}
	forRandomObjects(t, 20, func(t *testing.T, res *resource.Resource, rec *memstore.Record) {
		obj, err := codec.DecodeServed(res, rec)
		require.NoError(t, err)
		m, err := meta.Accessor(obj)
		require.NoError(t, err)
		partial := meta.AsPartialObjectMetadata(m)
		partial.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
		want, err := EncodeDocument(out, partial)
		require.NoError(t, err)

		e := NewEncoder(res, out)
		require.Equal(t, res.GroupVersion() == res.StorageVersion, e.metadataOnly)
		got, err := e.EncodeRecord(rec, nil)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
		got, err = e.EncodeObject(obj)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	})
}

// The encoding of the object that was stored is that of the record, for objects that clients sent
// as JSON and as protobuf.
func TestCacheObject(t *testing.T) {
	tested := 0
	for _, res := range builtin.Table().Stored() {
		for _, media := range []negotiate.Media{negotiate.Protobuf, negotiate.CBOR} {
			for seed := range int64(30) {
				obj, err := res.Scheme.New(res.StorageVersion.WithKind(res.Kind))
				require.NoError(t, err)
				fill(obj, seed)
				obj, err = codec.DecodeStored(res, store(t, res, obj))
				require.NoError(t, err)
				message, err := codec.MarshalProtobuf(obj)
				require.NoError(t, err)
				fromProtobuf := res.NewStored()
				require.NoError(t, fromProtobuf.(interface{ Unmarshal([]byte) error }).Unmarshal(message))
				for _, obj := range []runtime.Object{obj, fromProtobuf} {
					rec := store(t, res, obj)
					e := NewEncoder(res, negotiate.Output{Media: media})
					want, err := e.EncodeRecord(store(t, res, obj.DeepCopyObject()), nil)
					require.NoError(t, err)
					require.NoError(t, e.CacheObject(rec, obj))
					got, err := e.EncodeRecord(rec, nil)
					require.NoError(t, err)
					require.Equal(t, string(want), string(got), "%v %v", res.GroupResource(), media)
					tested++
				}
			}
		}
	}
	require.Greater(t, tested, 1000)
}

// The metadata of an object differs between versions whose conversion changes it, whichever is
// encoded first.
func TestMetadataOfVersions(t *testing.T) {
	stored := builtin.Table().Lookup("autoscaling", "v2", "horizontalpodautoscalers")
	other := builtin.Table().Lookup("autoscaling", "v1", "horizontalpodautoscalers")
	for seed := range int64(20) {
		obj, err := stored.Scheme.New(stored.StorageVersion.WithKind(stored.Kind))
		require.NoError(t, err)
		fill(obj, seed)
		fresh := func() *memstore.Record { return store(t, stored, obj.DeepCopyObject()) }
		for _, form := range []negotiate.Form{negotiate.Partial, negotiate.Table} {
			encode := func(res *resource.Resource, rec *memstore.Record) string {
				e := NewEncoder(res, negotiate.Output{Form: form})
				if form == negotiate.Table {
					e.SetTableOptions(metav1.IncludeMetadata, func() time.Time { return time.Unix(1e9, 0) })
				}
				b, err := e.EncodeRecord(rec, nil)
				require.NoError(t, err)
				return string(b)
			}
			want := map[*resource.Resource]string{stored: encode(stored, fresh()), other: encode(other, fresh())}
			for _, order := range [][]*resource.Resource{{stored, other}, {other, stored}} {
				rec := fresh()
				for _, res := range order {
					require.Equal(t, want[res], encode(res, rec))
				}
			}
		}
	}
}

// A response in a buffer that was used before is the same, and shares no memory with its record or
// with what is cached with the record.
func TestEncodeRecordInBuffer(t *testing.T) {
	outputs := []negotiate.Output{
		{}, {Pretty: true}, {Media: negotiate.YAML}, {Media: negotiate.Protobuf}, {Media: negotiate.CBOR}, {Form: negotiate.Partial},
		{Form: negotiate.Table},
	}
	used := func(b []byte) []byte {
		b = b[:cap(b)]
		for i := range b {
			b[i] = 'x'
		}
		return b[:0]
	}
	forRandomObjects(t, 2, func(t *testing.T, res *resource.Resource, rec *memstore.Record) {
		var buffer []byte
		for _, out := range outputs {
			encode := func(buffer []byte) []byte {
				e := NewEncoder(res, out)
				if out.Form == negotiate.Table {
					e.SetTableOptions(metav1.IncludeObject, func() time.Time { return time.Unix(1e9, 0) })
				}
				b, err := e.EncodeRecord(rec, buffer)
				require.NoError(t, err)
				return b
			}
			want := string(encode(nil))
			for range 2 {
				buffer = encode(used(buffer))
				require.Equal(t, want, string(buffer), "%v", out)
			}
		}
	})
}
