package managedfields

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

func TestSharedOwnershipAndRemoval(t *testing.T) {
	cm := newObject(t, "", "configmaps")
	cm.apply("m1", false, configMapWith(`{"a":"1","b":"1"}`))
	cm.apply("m2", false, configMapWith(`{"b":"1"}`)) // shared (SA-08)
	require.Equal(t, map[string]string{"a": "1", "b": "1"}, cm.live.(*corev1.ConfigMap).Data)

	// m1 gives up both: b is still owned by m2 (SA-10), a has no owner and is removed (SA-09).
	require.Equal(t, "m2 Apply v1 (no time) {\"f:data\":{\"f:b\":{}}}\nm1 Apply v1 {\"f:data\":{\"f:c\":{}}}", cm.apply("m1", false, configMapWith(`{"c":"1"}`)))
	require.Equal(t, map[string]string{"b": "1", "c": "1"}, cm.live.(*corev1.ConfigMap).Data)

	// An update never conflicts (SA-11). It owns what it changes. Removed fields have no owner.
	require.Equal(t, "m1 Apply v1 {\"f:data\":{\"f:c\":{}}}\nm1 Update v1 {\"f:data\":{\"f:d\":{}}}", cm.put("m1", configMapWith(`{"c":"1","d":"1"}`)))

	// An apply conflicts with the Update entry of its own manager (SA-21).
	requireConflict(t, cm.applyError("m1", false, configMapWith(`{"c":"1","d":"2"}`)),
		`Apply failed with 1 conflict: conflict with "m1" using v1: .data.d`, `conflict with "m1" using v1`, ".data.d")
}

func TestMultipleConflicts(t *testing.T) {
	cm := newObject(t, "", "configmaps")
	cm.apply("m1", false, configMapWith(`{"a":"1","b":"1"}`))
	cm.put("x", configMapWith(`{"a":"1","b":"1","c":"1"}`))
	err := cm.applyError("m2", false, configMapWith(`{"a":"2","b":"2","c":"2"}`))
	require.EqualError(t, err, "Apply failed with 3 conflicts: conflicts with \"m1\":\n- .data.a\n- .data.b\nconflicts with \"x\" using v1:\n- .data.c")
}

func TestSubresource(t *testing.T) {
	pod := newObject(t, "", "pods")
	pod.put("u", `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	const main = `u Update v1 {"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{},"f:resources":{}}}}}`

	// A write to the status owns the status and metadata (SA-22, SU-16), not the spec and the owner
	// references.
	require.Equal(t, main+"\n"+`u Update v1/status {"f:metadata":{"f:labels":{".":{},"f:l":{}}},"f:status":{"f:phase":{}}}`,
		pod.putAt("status", "u", `{"metadata":{"name":"a","labels":{"l":"1"},"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"1"}],"managedFields":[{}]},
			"spec":{"containers":[{"name":"c","image":"other"}]},"status":{"phase":"Running"}}`))

	deployment := newObject(t, "apps", "deployments")
	deployment.put("u", `{"metadata":{"name":"a"},"spec":{"replicas":1}}`)
	require.Equal(t, `c Update apps/v1/status {"f:status":{"f:replicas":{}}}`+"\n"+`u Update apps/v1 {"f:spec":{"f:replicas":{}}}`,
		deployment.putAt("status", "c", `{"metadata":{"name":"a","labels":{"l":"1"}},"spec":{"replicas":2},"status":{"replicas":1}}`))

	// An apply to the main resource does not own the status (SA-32).
	require.Equal(t, `m Apply v1 {"f:metadata":{"f:labels":{"f:x":{}}}}`, strings.Split(pod.apply("m", true,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"x":"y"}},"status":{"phase":"Failed"}}`), "\n")[0])

	obj, _, err := pod.manager("status").Apply(pod.live, NewPatch([]byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"status":{"message":"m"}}`)), "m", false, "")
	require.NoError(t, err)
	entries := accessor(obj).GetManagedFields()
	require.Equal(t, "status", entries[1].Subresource)
	require.JSONEq(t, `{"f:status":{"f:message":{}}}`, entries[1].FieldsV1.GetRawString())
}

func TestMaxUpdateEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cm := newObject(t, "", "configmaps")
		data := map[int]string{}
		for i := range 12 {
			data[i] = fmt.Sprintf("%q:%q", fmt.Sprint("k", i), "1")
			var all []string
			for j := range i + 1 {
				all = append(all, data[j])
			}
			cm.put(fmt.Sprint("m", i), configMapWith("{"+strings.Join(all, ",")+"}"))
			time.Sleep(time.Second) // virtual
		}
		lines := strings.Split(cm.entries(), "\n")
		require.Len(t, lines, 10)
		require.Equal(t, `ancient-changes Update v1 {"f:data":{".":{},"f:k0":{},"f:k1":{},"f:k2":{}}}`, lines[0])
		require.Equal(t, `m11 Update v1 {"f:data":{"f:k11":{}}}`, lines[9])
	})
}

func TestManagedFieldsOfRequest(t *testing.T) {
	cm := newObject(t, "", "configmaps")
	first := cm.put("m", configMapWith(`{"k":"1"}`))
	sent := func(managedFields, data string) string {
		return `{"metadata":{"name":"a","managedFields":` + managedFields + `},"data":` + data + `}`
	}
	// Invalid entries are ignored (SA-29).
	require.Equal(t, first, cm.put("x", sent(`[{"manager":"y","operation":"Bogus","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{}}]`, `{"k":"1"}`)))
	require.Equal(t, first, cm.put("x", sent(`[{"manager":"y","operation":"Update","apiVersion":"v1","fieldsType":"V2","fieldsV1":{}}]`, `{"k":"1"}`)))
	// Valid entries are stored.
	require.Equal(t, `y Update v1 (no time) {"f:data":{"f:k":{}}}`,
		cm.put("x", sent(`[{"manager":"y","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}}}]`, `{"k":"1"}`)))
	// A reset stores the rest of the request (SA-27). Ownership is not recorded then (SA-36).
	require.Empty(t, cm.put("x", sent(`[{}]`, `{"k":"2"}`)))
	require.Equal(t, "2", cm.live.(*corev1.ConfigMap).Data["k"])
	require.Empty(t, cm.put("x", configMapWith(`{"k":"3"}`)))
	// The next apply adds an entry for the fields that exist (SA-23).
	require.Equal(t, "m Apply v1 {\"f:data\":{\"f:n\":{}}}\nbefore-first-apply Update v1 {\"f:data\":{\".\":{},\"f:k\":{}}}", cm.apply("m", false, configMapWith(`{"n":"1"}`)))

	require.Empty(t, cm.put("x", sent(`[]`, `{"k":"2"}`)), "SA-28")
}

// TestVersions checks that the entries of an object are in several versions (SA-34).
func TestVersions(t *testing.T) {
	table := builtin.Table()
	v1, v2 := table.Lookup("autoscaling", "v1", "horizontalpodautoscalers"), table.Lookup("autoscaling", "v2", "horizontalpodautoscalers")
	in := func(res *resource.Resource) *FieldManager {
		m, err := BuiltinFieldManager(res, "")
		require.NoError(t, err)
		return m
	}
	hpa := func(percent int32) *autoscalingv2.HorizontalPodAutoscaler {
		return &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u"},
			Spec: autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: 3, Metrics: []autoscalingv2.MetricSpec{{
				Type: autoscalingv2.ResourceMetricSourceType,
				Resource: &autoscalingv2.ResourceMetricSource{
					Name:   corev1.ResourceCPU,
					Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent},
				},
			}}},
		}
	}
	first := in(v1).Update(nil, hpa(50), "one").(*autoscalingv2.HorizontalPodAutoscaler)
	require.Len(t, first.ManagedFields, 1)
	require.Equal(t, "autoscaling/v1", first.ManagedFields[0].APIVersion)
	require.JSONEq(t, `{"f:spec":{"f:maxReplicas":{},"f:targetCPUUtilizationPercentage":{}}}`, first.ManagedFields[0].FieldsV1.GetRawString())

	// An update in v2 removes the field from the entry in v1 and adds an entry in v2.
	second := in(v2).Update(first, hpa(60), "two").(*autoscalingv2.HorizontalPodAutoscaler)
	require.Len(t, second.ManagedFields, 2)
	require.JSONEq(t, `{"f:spec":{"f:maxReplicas":{}}}`, second.ManagedFields[0].FieldsV1.GetRawString())
	require.JSONEq(t, `{"f:spec":{"f:metrics":{}}}`, second.ManagedFields[1].FieldsV1.GetRawString())
	require.Equal(t, "autoscaling/v2", second.ManagedFields[1].APIVersion)

	third, _, err := in(v1).Apply(second, NewPatch([]byte(`{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"a"},"spec":{"targetCPUUtilizationPercentage":70}}`)), "three", true, "")
	require.NoError(t, err)
	require.Equal(t, int32(70), *third.(*autoscalingv2.HorizontalPodAutoscaler).Spec.Metrics[0].Resource.Target.AverageUtilization)
	_, _, err = in(v1).Apply(second, NewPatch([]byte(`{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"a"},"spec":{"targetCPUUtilizationPercentage":70}}`)), "three", false, "")
	require.ErrorContains(t, err, `conflict with "two" using autoscaling/v2`)

	// An event of the group events.k8s.io is stored in the core group.
	events := in(table.Lookup("events.k8s.io", "v1", "events"))
	event := events.Update(nil, &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "e"}, Reason: "R", Message: "m"}, "").(*corev1.Event)
	require.Equal(t, "unknown", event.ManagedFields[0].Manager)
	require.Equal(t, "events.k8s.io/v1", event.ManagedFields[0].APIVersion)
	require.JSONEq(t, `{"f:note":{},"f:reason":{}}`, event.ManagedFields[0].FieldsV1.GetRawString())

	// Entries in versions that are not served are dropped.
	first.ManagedFields[0].APIVersion = "autoscaling/v2beta1"
	dropped := in(v2).Update(first, hpa(70), "two").(*autoscalingv2.HorizontalPodAutoscaler)
	require.Len(t, dropped.ManagedFields, 1)
	require.Equal(t, "two", dropped.ManagedFields[0].Manager)
}

// TestLastApplied checks that a server-side apply of kubectl does not conflict with its client-side
// apply (SA-35).
func TestLastApplied(t *testing.T) {
	cm := newObject(t, "", "configmaps")
	const last = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1"}}`
	cm.put("kubectl-client-side-apply", fmt.Sprintf(`{"metadata":{"name":"a","annotations":{"kubectl.kubernetes.io/last-applied-configuration":%q}},"data":{"k":"1"}}`, last))
	cm.applyError("other", false, configMapWith(`{"k":"2"}`))
	cm.apply("kubectl", false, configMapWith(`{"k":"2"}`))
	require.Equal(t, "2", cm.live.(*corev1.ConfigMap).Data["k"])
	require.Contains(t, accessor(cm.live).GetAnnotations()["kubectl.kubernetes.io/last-applied-configuration"], `"k":"2"`)
}

func TestRestoreTimestamps(t *testing.T) {
	at := func(seconds int64, data string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "a", ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "m", Operation: "Apply", APIVersion: "v1", Time: &metav1.Time{Time: time.Unix(seconds, 0)},
				FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:data":{}}`),
			}}},
			Data: map[string]string{"k": data},
		}
	}
	equal := at(2, "1")
	RestoreTimestamps(at(1, "1"), equal)
	require.Equal(t, int64(1), equal.ManagedFields[0].Time.Unix())

	changed := at(2, "2")
	RestoreTimestamps(at(1, "1"), changed)
	require.Equal(t, int64(2), changed.ManagedFields[0].Time.Unix())

	other := at(2, "1")
	other.ManagedFields[0].Manager = "n"
	RestoreTimestamps(at(1, "1"), other)
	require.Equal(t, int64(2), other.ManagedFields[0].Time.Unix())
}

func TestManagerOrUserAgent(t *testing.T) {
	for _, tc := range []struct{ name, agent, want string }{
		{"m", "kubectl/v1", "m"},
		{"", "probe/1", "probe"},
		{"", "updater/9 (x)", "updater"},
		{"", "Mozilla", "Mozilla"},
		{"", "", ""},
		{"", "a\tb\x01c/1", "abc"},
		{"", strings.Repeat("m", 200) + "/1", strings.Repeat("m", 128)},
		{"", strings.Repeat("m", 127) + "éa/1", strings.Repeat("m", 127)},
	} {
		require.Equal(t, tc.want, ManagerOrUserAgent(tc.name, tc.agent), "%+v", tc)
	}
}

func TestBuiltinFieldManager(t *testing.T) {
	for _, res := range builtin.Table().Stored() {
		subresources := []string{""}
		if res.Status {
			subresources = append(subresources, "status")
		}
		for _, subresource := range subresources {
			m, err := BuiltinFieldManager(res, subresource)
			require.NoError(t, err)
			again, err := BuiltinFieldManager(res, subresource)
			require.NoError(t, err)
			require.Same(t, m, again)
			require.Equal(t, resource.IsCRDResource(res), m.fast == nil, "the fast path does not support %s", res.Kind)
		}
	}
	_, err := BuiltinFieldManager(builtin.Table().Lookup("", "v1", "pods"), "log")
	require.EqualError(t, err, `no managed fields for /v1, Resource=pods, subresource "log"`)
	_, err = BuiltinFieldManager(&resource.Resource{Version: "v1", Plural: "widgets"}, "")
	require.Error(t, err)
}

// TestConcurrentUse uses a FieldManager in several goroutines.
func TestConcurrentUse(t *testing.T) {
	res := builtin.Table().Lookup("", "v1", "pods")
	m, err := BuiltinFieldManager(res, "")
	require.NoError(t, err)
	live := m.Update(nil, decode(t, res, pod("1", "")), "m")
	setUID(live)
	var workers sync.WaitGroup
	for i := range 8 {
		workers.Go(func() {
			for range 20 {
				obj := decode(t, res, pod(fmt.Sprint(i), ""))
				obj.GetObjectKind().SetGroupVersionKind(res.GroupVersionKind())
				m.Update(live, obj, fmt.Sprint("m", i))
				m.updateWithLibrary(live, decode(t, res, pod(fmt.Sprint(i), "")), "m")
				_, _, err := m.Apply(live, NewPatch([]byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1","labels":{"x":"y"}}}`)), "a", true, "")
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
}

// TestWithoutKind checks that objects need not have their kind set, and that the stored object is
// not changed.
func TestWithoutKind(t *testing.T) {
	res := builtin.Table().Lookup("", "v1", "configmaps")
	m, err := BuiltinFieldManager(res, "")
	require.NoError(t, err)
	live := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u", ManagedFields: []metav1.ManagedFieldsEntry{{
		Manager: "m", Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{ "f:data":{"f:k":{}}}`),
	}}}}
	before := live.DeepCopy()
	for _, update := range []func(live, obj runtime.Object, manager string) runtime.Object{m.Update, m.updateWithLibrary} {
		obj := update(live, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"k": "1"}}, "n")
		require.Equal(t, `{"f:data":{".":{},"f:k":{}}}`, accessor(obj).GetManagedFields()[0].FieldsV1.GetRawString())
		require.Equal(t, before, live)
	}
}
