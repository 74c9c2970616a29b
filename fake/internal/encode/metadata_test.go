package encode

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/crd/versions"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/webhookclient"
)

// newGauges returns the resource of a definition.
func newGauges(t *testing.T) *resource.Resource {
	preserve := true
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "gauges.example.com"}}
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gauges", Singular: "gauge", Kind: "Gauge", ListKind: "GaugeList"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1", Served: true, Storage: true,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object", XPreserveUnknownFields: &preserve,
			}},
			AdditionalPrinterColumns: []apiextensionsv1.CustomResourceColumnDefinition{{Name: "Size", Type: "integer", JSONPath: ".spec.size"}},
		}},
	}
	crd.Status.AcceptedNames = crd.Spec.Names
	d, err := versions.New(t.Context(), crd, 1, webhookclient.Network{})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	_, stored := resource.ForCRD(d)
	return stored
}

// The metadata and the row of a custom resource are those of the decoded object, whatever its
// metadata.
func TestMetadataOfCustomResources(t *testing.T) {
	res := newGauges(t)
	for seed := range int64(300) {
		var metadata metav1.ObjectMeta
		randfill.New().RandSource(rand.New(rand.NewSource(seed))).NilChance(0.3).NumElements(0, 3).Funcs(
			func(s *string, c randfill.Continue) { *s = words[c.Intn(len(words))] },
			func(t *metav1.Time, c randfill.Continue) { t.Time = time.Unix(c.Int63n(3)*3600, 0) },
			func(f *metav1.FieldsV1, _ randfill.Continue) {
				f.SetRawString(fmt.Sprintf(`{"f:spec":{"k:{\"name\":\"<é\"}":{".":{},"f:size":{}},"f:b%d":{}},"f:a":{}}`, seed))
			},
		).Fill(&metadata)
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&metadata)
		require.NoError(t, err)
		obj := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Gauge", "metadata": content, "spec": map[string]any{"size": seed, "metadata": "x"},
		}}
		rec := store(t, res, obj)
		decoded, err := codec.DecodeServed(res, rec)
		require.NoError(t, err)

		_, ok, err := customMetadata(res, rec)
		require.NoError(t, err)
		require.True(t, ok)
		for _, form := range []negotiate.Form{negotiate.Partial, negotiate.Table} {
			newEncoder := func() *Encoder {
				e := NewEncoder(res, negotiate.Output{Form: form})
				if form == negotiate.Table {
					e.SetTableOptions(metav1.IncludeMetadata, func() time.Time { return time.Unix(1e9, 0) })
				}
				return e
			}
			want, err := newEncoder().EncodeObject(decoded)
			require.NoError(t, err)
			got, err := newEncoder().EncodeRecord(rec, nil)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
		}
	}
}
