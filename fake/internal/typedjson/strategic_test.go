package typedjson_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	kjson "sigs.k8s.io/json"

	"example.com/fakeapi/fake/internal/typedjson"
)

// The result of a strategic merge patch is that of the library, in objects as they were decoded.
func TestStrategicMerge(t *testing.T) {
	merged, valid := 0, 0
	forEach(t, 4, func(g *generator, typ *typedjson.Type, goType reflect.Type, obj any) {
		g.keyed(reflect.ValueOf(obj))
		current, err := json.Marshal(obj)
		require.NoError(t, err)
		other := g.object(goType)
		g.keyed(reflect.ValueOf(other))
		for n := range 12 {
			var patch string
			switch {
			case n < 4: // as clients compute it
				modified := reflect.New(goType).Interface()
				changed, err := json.Marshal(g.shorten(g.change(toDocument(t, obj))))
				require.NoError(t, err)
				if kjson.UnmarshalCaseSensitivePreserveInts(changed, modified) != nil {
					continue
				}
				changed, err = json.Marshal(modified)
				require.NoError(t, err)
				computed, err := strategicpatch.CreateTwoWayMergePatch(current, changed, reflect.New(goType).Interface())
				if err != nil {
					continue
				}
				patch = g.text(g.reorder(decodeObject(t, computed)))
			case n < 8:
				patch = g.text(g.part(g.change(toDocument(t, obj))))
			default:
				patch = g.text(g.part(g.change(toDocument(t, other))))
			}
			var fields map[string]any
			duplicates, err := kjson.UnmarshalStrict([]byte(patch), &fields)
			if err != nil || len(duplicates) > 0 {
				continue
			}
			want, err := strategicResult(goType, current, fields)
			got := reflect.New(goType).Interface()
			require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(current, got))
			if typ.StrategicMerge([]byte(patch), got) {
				merged++
				require.NoError(t, err, "%v\n%s\n%s", goType, current, patch)
				require.True(t, reflect.DeepEqual(want, got), "%v\n%s\n%s\n%s", goType, current, patch, cmp.Diff(want, got))
			}
			if err == nil {
				valid++
			}
		}
	})
	t.Logf("%d of %d", merged, valid)
	require.Greater(t, merged, valid/2)
}

// strategicResult returns what the library makes of an object and a patch. A panic of the library,
// for a key that is an object, is an error.
func strategicResult(goType reflect.Type, current []byte, patch map[string]any) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	obj := reflect.New(goType).Interface()
	if err := kjson.UnmarshalCaseSensitivePreserveInts(current, obj); err != nil {
		return nil, err
	}
	document, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	fields, err := strategicpatch.StrategicMergeMapPatch(document, patch, obj)
	if err != nil {
		return nil, err
	}
	result = reflect.New(goType).Interface()
	return result, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(fields, result, true)
}

// Strategic merge patches by which all rules of the library are followed, or that are left to it.
func TestStrategicMergeRules(t *testing.T) {
	const pod = `{"metadata":{"finalizers":["a","b","c"],"labels":{"a":"1"}},"spec":{"containers":[
		{"name":"x","image":"x:1","ports":[{"containerPort":80,"name":"p"}],"env":[{"name":"A","value":"1"}]},
		{"name":"y","image":"y:1"},{"name":"z","image":"z:1"}],"nodeSelector":{"a":"1","b":"2"}}}`
	for _, tt := range []struct {
		obj            any
		current, patch string
		supported      bool
	}{
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"name":"y","image":"y:2"}]}}`, true},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"image":"y:2","name":"y","resources":{"limits":{"cpu":"1"}}},{"name":"new"}]}}`, true},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"name":"z"},{"name":"x","image":null}]}}`, true},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"name":"x","ports":[{"containerPort":80,"name":"q"},{"containerPort":81}],"env":[{"name":"A","value":null}]}]}}`, true},
		{&corev1.Pod{}, pod, `{"spec":{"$setElementOrder/containers":[{"name":"z"},{"name":"y"},{"name":"x"}]}}`, true},
		{&corev1.Pod{}, pod, `{"spec":{"$setElementOrder/containers":[{"name":"z"},{"name":"x"}],"containers":[{"name":"x","image":"x:2"}]}}`, true},
		{&corev1.Pod{}, pod, `{"spec":{"$setElementOrder/containers":[{"name":"z"},{"name":"n"},{"name":"x"}],"containers":[{"name":"n","image":"n:1"}]}}`, true},
		{&corev1.Pod{}, pod, `{"spec":{"$setElementOrder/containers":[{"name":"z"},{"name":"x"}],"containers":[{"name":"x"},{"name":"z"}]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"$setElementOrder/containers":[{"name":"z"}],"containers":[{"name":"x"}]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"$setElementOrder/containers":[{"name":"z"}],"containers":null}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"$setElementOrder/containers":[],"containers":[{"name":"n"}]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"$setElementOrder/containers":[{"name":"z"},{"name":"y"},{"name":"z"}]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"$setElementOrder/nodeSelector":[{"name":"z"}],"nodeSelector":{"a":"2"}}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"$setElementOrder/tolerations":["a"],"tolerations":[{"key":"a"}]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"$patch":"delete","name":"x"}]}}`, true},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"$patch":"delete","name":"x"},{"$patch":"delete","name":"z"},{"name":"n"},{"$patch":"delete","name":"y"}]}}`, true},
		{&corev1.Pod{}, pod, `{"spec":{"$setElementOrder/containers":[{"name":"z"},{"name":"x"}],"containers":[{"$patch":"delete","name":"y"},{"name":"x","image":"x:2"}]}}`, true},
		{&corev1.Pod{}, pod, `{"spec":{"$setElementOrder/containers":[{"name":"z"},{"name":"y"}],"containers":[{"$patch":"delete","name":"y"}]}}`, true},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"$patch":"delete","name":"other"}]}}`, true},
		{&corev1.Pod{}, `{}`, `{"spec":{"containers":[{"$patch":"delete","name":"x"}]}}`, true},
		{&corev1.Pod{}, `{}`, `{"spec":{"volumes":[{"$patch":"delete","name":"x"}]}}`, true},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"$patch":"delete","name":"x"},{"name":"x"}]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"name":"x","$patch":"delete"}]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"$patch":"delete"}]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"$patch":"merge","name":"x"}]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"$setElementOrder/containers":[{"$patch":"delete","name":"x"}]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"$patch":"replace"}]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"$patch":"replace","containers":[{"name":"n"}]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"$retainKeys":["containers"]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"image":"x"}]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"name":""}]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"name":1}]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"name":"x"},{"name":"x","image":"x:2"}]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"name":"x","ports":[{"containerPort":0}]}]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"name":"x","ports":[{"containerPort":80.0}]}]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[{"name":"x","ports":[{"containerPort":80,"hostPort":80}]}]}}`, true},
		{&corev1.Pod{}, pod, `{"spec":{"containers":[],"nodeSelector":{"b":null,"c":"3"}}}`, true},
		{&corev1.Pod{}, pod, `{"spec":{"containers":null,"nodeSelector":null}}`, true},
		{&corev1.Pod{}, pod, `{"metadata":{"finalizers":["b","d"]}}`, true},
		{&corev1.Pod{}, pod, `{"metadata":{"$setElementOrder/finalizers":["c","d","a"],"finalizers":["d"]}}`, true},
		{&corev1.Pod{}, pod, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["c","other"]}}`, true},
		{&corev1.Pod{}, pod, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"$setElementOrder/finalizers":["c","b"]}}`, true},
		{&corev1.Pod{}, pod, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a","b","c"]}}`, true},
		{&corev1.Pod{}, `{}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}}`, true},
		{&corev1.Pod{}, pod, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["c"],"finalizers":["d"]}}`, false},
		{&corev1.Pod{}, pod, `{"metadata":{"finalizers":["d"],"$deleteFromPrimitiveList/finalizers":["c"]}}`, false},
		{&corev1.Pod{}, pod, `{"metadata":{"$deleteFromPrimitiveList/finalizers":[]}}`, false},
		{&corev1.Pod{}, pod, `{"metadata":{"$deleteFromPrimitiveList/finalizers":[1]}}`, false},
		{&corev1.Pod{}, pod, `{"metadata":{"$setElementOrder/finalizers":[1]}}`, false},
		{&corev1.Pod{}, pod, `{"metadata":{"$setElementOrder/finalizers":["c"],"$setElementOrder/finalizers":["b"]}}`, false},
		{&corev1.Pod{}, pod, `{"metadata":{"$deleteFromPrimitiveList/labels":["a"]}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"$deleteFromPrimitiveList/containers":[{"name":"x"}]}}`, false},
		{&corev1.Pod{}, pod, `{"metadata":{"$setElementOrder/$deleteFromPrimitiveList/finalizers":["a"]}}`, false},
		{&corev1.Pod{}, pod, `{"metadata":{"annotations":{"a":null}}}`, false},
		{&corev1.Pod{}, pod, `{"metadata":{"labels":{"$patch":"replace","b":"2"}}}`, false},
		{&corev1.Pod{}, pod, `{"metadata":{"annotations":{"$retainKeys":"b"}}}`, false},
		{&corev1.Pod{}, pod, `{"spec":{"overhead":{"$patch":"delete","cpu":"1"}}}`, false},
		{&corev1.Pod{}, `{"metadata":{"finalizers":["a","a"]}}`, `{"metadata":{"finalizers":["b"]}}`, false},
		{&corev1.Pod{}, `{"spec":{"containers":[{"name":"x"},{"name":""}]}}`, `{"spec":{"containers":[{"name":"y"}]}}`, false},
		{&corev1.Pod{}, `{"spec":{"containers":[{"name":"x"},{"name":"x"}]}}`, `{"spec":{"containers":[{"name":"y"}]}}`, false},
		{&corev1.Pod{}, `{}`, `{"spec":{"containers":[{"name":"x"},{"name":"y"}]}}`, true},
		{&corev1.Pod{}, `{}`, `{"spec":{"$setElementOrder/containers":[{"name":"x"}],"containers":[{"name":"x"}]}}`, false},
		{&corev1.Pod{}, `{}`, `{"spec":{"$setElementOrder/containers":[{"name":"x"}]}}`, false},
		{&corev1.Pod{}, `{}`, `{"spec":{"$setElementOrder/volumes":[{"name":"x"},{"name":"y"}],"volumes":[{"name":"x"},{"name":"y"}]}}`, true},
		{&corev1.Pod{}, `{}`, `{"spec":{"$setElementOrder/volumes":[{"name":"x"}]}}`, true},
		{&corev1.Pod{}, `{}`, `{"status":{"conditions":[{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, true},
		{&policyv1.PodDisruptionBudget{}, `{"spec":{"selector":{"matchLabels":{"a":"1"}}}}`, `{"spec":{"selector":{"matchLabels":{"b":"2"}}}}`, true},
		{&policyv1.PodDisruptionBudget{}, `{"spec":{"selector":{"matchLabels":{"a":"1"}}}}`, `{"spec":{"selector":null}}`, true},
		{&certificatesv1.CertificateSigningRequest{}, `{"spec":{"extra":{"a":["1"]}}}`, `{"spec":{"extra":{"b":["2"]}}}`, true},
		{&certificatesv1.CertificateSigningRequest{}, `{"spec":{"extra":{"a":["1"]}}}`, `{"spec":{"extra":{"a":["2"]}}}`, false},
		{&appsv1.ControllerRevision{}, `{"data":{"b":1,"a":2},"revision":1}`, `{"revision":2}`, false},
	} {
		want, err := strategicResult(reflect.TypeOf(tt.obj).Elem(), []byte(tt.current), decodeObject(t, []byte(tt.patch)))
		var types typedjson.Types
		require.NoError(t, json.Unmarshal([]byte(tt.current), tt.obj))
		ok := types.NewType(reflect.TypeOf(tt.obj).Elem()).StrategicMerge([]byte(tt.patch), tt.obj)
		require.Equal(t, tt.supported, ok, "%s", tt.patch)
		if ok {
			require.NoError(t, err, tt.patch)
			require.True(t, reflect.DeepEqual(want, tt.obj), "%s\n%s", tt.patch, cmp.Diff(want, tt.obj))
		}
	}
}

func decodeObject(t *testing.T, body []byte) (object map[string]any) {
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(body, &object))
	return object
}
