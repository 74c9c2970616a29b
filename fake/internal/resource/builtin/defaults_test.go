package builtin

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/randfill"

	"example.com/fakeapi/fake/internal/resource"
)

// words are the values of random strings. Some of them select a branch of the defaults.
var words = []string{
	"a", "b", "app:1", "app:latest", "10.0.0.1", "::1", "TCP", "UDP", "RollingUpdate", "Recreate", "OnDelete", "Always", "Never", "OnFailure",
	"ClusterIP", "NodePort", "LoadBalancer", "ExternalName", "ClientIP", "None", "Indexed", "Utilization", "Resource", "cpu", "memory",
	"hugepages-2Mi", "User", "Group", "ServiceAccount", "Exempt", "Limited", "Queue", "IPv4", "Block", "Service", "Cluster", "Local",
}

// newFiller returns a filler of random objects as clients could send them.
func newFiller(seed uint64) *randfill.Filler {
	return randfill.NewWithSeed(int64(seed)).NilChance(0.4).NumElements(1, 2).MaxDepth(14).Funcs(
		func(s *string, c randfill.Continue) { *s = words[c.Intn(len(words))] },
		func(q *apiresource.Quantity, c randfill.Continue) {
			*q = *apiresource.NewMilliQuantity(c.Int63n(5000), apiresource.DecimalSI)
			_ = q.String() // what a decoded quantity has cached
		},
		func(at *metav1.Time, c randfill.Continue) { at.Time = time.Unix(c.Int63n(1e9), 0).UTC() },
		func(at *metav1.MicroTime, c randfill.Continue) { at.Time = time.UnixMicro(c.Int63n(1e15)).UTC() },
		func(i *intstr.IntOrString, c randfill.Continue) { *i = intstr.FromInt32(c.Int31n(9)) },
		func(raw *runtime.RawExtension, _ randfill.Continue) { raw.Raw = []byte(`{"a":1}`) },
		func(m *metav1.TypeMeta, _ randfill.Continue) { *m = metav1.TypeMeta{} },
		func(m *metav1.ObjectMeta, c randfill.Continue) {
			*m = metav1.ObjectMeta{Name: words[c.Intn(len(words))], Namespace: "default"}
			if c.Bool() {
				m.Labels = map[string]string{"a": "b"}
			}
		},
	)
}

// received returns obj as a server decodes it from a request.
func received(t *testing.T, obj runtime.Object) runtime.Object {
	t.Helper()
	body, err := json.Marshal(obj)
	require.NoError(t, err)
	decoded := reflect.New(reflect.TypeOf(obj).Elem()).Interface().(runtime.Object)
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(body, decoded))
	return decoded
}

// storedForm returns what is stored of an object in the version of res.
func storedForm(t *testing.T, res *resource.Resource, obj runtime.Object) runtime.Object {
	t.Helper()
	converted, err := res.Convert(obj, res.StorageVersion)
	require.NoError(t, err)
	return received(t, res.Canonical(converted))
}

// A stored object that is sent back, in any version, is stored unchanged. Only the status of a
// HorizontalPodAutoscaler may differ: its form in autoscaling/v1 has values where v2 has none, and
// an update keeps the status anyway.
func TestDefaultsOfStoredObjects(t *testing.T) {
	seed := rand.Uint64()
	objects := 100
	if testing.Short() {
		objects = 30
	}
	for _, res := range Table().Stored() {
		if res.Group == "apiextensions.k8s.io" { // package lifecycle has its tests
			continue
		}
		t.Run(res.Plural+"."+res.Group+"/"+res.Version, func(t *testing.T) {
			t.Parallel()
			filler := newFiller(seed)
			for i := range objects {
				obj := res.New()
				filler.Fill(obj)
				stored := storedForm(t, res, received(t, obj))
				served, err := res.Convert(stored.DeepCopyObject(), res.GroupVersion())
				require.NoError(t, err)
				again := storedForm(t, res, received(t, served))
				want, got := asJSON(t, stored), asJSON(t, again)
				if res.Group == "autoscaling" {
					delete(want, "status")
					delete(got, "status")
				}
				require.Empty(t, cmp.Diff(want, got), "object %d of seed %d", i, seed)
			}
		})
	}
}

func asJSON(t *testing.T, obj runtime.Object) (value map[string]any) {
	t.Helper()
	obj.GetObjectKind().SetGroupVersionKind(obj.GetObjectKind().GroupVersionKind().GroupKind().WithVersion(""))
	body, err := json.Marshal(obj)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(body, &value))
	return value
}
