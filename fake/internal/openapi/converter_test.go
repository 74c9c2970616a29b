package openapi

import (
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	aggregatorconfigurations "k8s.io/kube-aggregator/pkg/client/applyconfiguration"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/randfill"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// A client that merges by the v3 documents has the same fields and merged objects of every type as
// one that merges by client-go's schemas.
func TestMergesAgree(t *testing.T) {
	models := make(map[string]*spec.Schema)
	for name := range documents().v3 {
		for model, s := range parsed(t, name).Components.Schemas {
			models[model] = s
		}
	}
	ours, err := managedfields.NewTypeConverter(models, false)
	require.NoError(t, err)
	ofClientGo := applyconfigurations.NewTypeConverter(scheme.Scheme)
	filler := objectFiller()
	merged := 0
	for _, r := range builtin.Table().Stored() {
		if resource.IsCRDResource(r) { // its values are arbitrary JSON
			continue
		}
		theirs := ofClientGo
		if r.Kind == "APIService" {
			theirs = aggregatorconfigurations.NewTypeConverter(r.Scheme)
		}
		for range 3 {
			live, config := r.New(), r.New()
			filler.Fill(live)
			filler.Fill(config)
			live.GetObjectKind().SetGroupVersionKind(r.GroupVersionKind())
			config.GetObjectKind().SetGroupVersionKind(r.GroupVersionKind())
			have, want := merge(t, ours, live, config), merge(t, theirs, live, config)
			if want == nil {
				require.Nil(t, have, r.Kind)
				continue
			}
			merged++
			require.Equal(t, want.AsValue().Unstructured(), have.AsValue().Unstructured(), r.Kind)
			wantFields, err := want.ToFieldSet()
			require.NoError(t, err)
			haveFields, err := have.ToFieldSet()
			require.NoError(t, err)
			require.True(t, wantFields.Equals(haveFields), "%s: %s, %s", r.Kind, wantFields, haveFields)
		}
	}
	require.Greater(t, merged, 2*len(builtin.Table().Stored()))
}

// merge returns live with config applied, or nil if one of them is invalid.
func merge(t *testing.T, types managedfields.TypeConverter, live, config runtime.Object) *typed.TypedValue {
	t.Helper()
	one, err := types.ObjectToTyped(live)
	if err != nil {
		return nil
	}
	other, err := types.ObjectToTyped(config)
	if err != nil {
		return nil
	}
	merged, err := one.Merge(other)
	require.NoError(t, err)
	return merged
}

// objectFiller returns a filler of objects with short lists, whose keys seldom collide.
func objectFiller() *randfill.Filler {
	rng := rand.New(rand.NewSource(1))
	return randfill.New().RandSource(rng).NilChance(0.5).NumElements(0, 2).MaxDepth(12).Funcs(
		func(s *string, c randfill.Continue) { *s = string(rune('a' + c.Intn(26))) },
		func(q *apiresource.Quantity, c randfill.Continue) {
			*q = *apiresource.NewQuantity(c.Int63n(9), apiresource.DecimalSI)
		},
		func(t *metav1.Time, c randfill.Continue) { t.Time = time.Unix(c.Int63n(9), 0) },
		func(t *metav1.MicroTime, c randfill.Continue) { t.Time = time.Unix(c.Int63n(9), 0) },
		func(v *intstr.IntOrString, c randfill.Continue) { *v = intstr.FromInt32(c.Int31n(9)) },
		func(r *runtime.RawExtension, _ randfill.Continue) { r.Raw = []byte(`{"a":[1]}`) },
		func(m *[]metav1.ManagedFieldsEntry, _ randfill.Continue) { *m = nil },
	)
}
