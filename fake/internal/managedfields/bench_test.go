package managedfields

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// BenchmarkUpdate measures updates with the fast path and with the library, and for comparison the
// strict decoding of the same body.
func BenchmarkUpdate(b *testing.B) {
	for _, bm := range []struct {
		name          string
		group, plural string
		subresource   string
		before, after string
	}{
		{name: "configmap/create", plural: "configmaps", after: configMap("1")},
		{name: "configmap/update", plural: "configmaps", before: configMap("1"), after: configMap("2")},
		{name: "configmap/same", plural: "configmaps", before: configMap("1"), after: configMap("1")},
		{name: "pod/create", plural: "pods", after: pod("1", "")},
		{name: "pod/update", plural: "pods", before: pod("1", ""), after: pod("2", "")},
		{name: "pod/status", plural: "pods", subresource: "status", before: pod("1", ""), after: pod("1", "Running")},
		{name: "deployment/create", group: "apps", plural: "deployments", after: deployment("1", 1)},
		{name: "deployment/update", group: "apps", plural: "deployments", before: deployment("1", 1), after: deployment("2", 1)},
		{name: "deployment/status", group: "apps", plural: "deployments", subresource: "status", before: deployment("1", 1), after: deployment("1", 2)},
	} {
		res := builtin.Table().Lookup(bm.group, "v1", bm.plural)
		m, err := BuiltinFieldManager(res, bm.subresource)
		require.NoError(b, err)
		var live runtime.Object
		if bm.before != "" {
			main, err := BuiltinFieldManager(res, "")
			require.NoError(b, err)
			live = main.Update(nil, decode(b, res, bm.before), "kubectl")
			setUID(live)
		}
		obj := decode(b, res, bm.after)
		run := func(name string, update func(live, obj runtime.Object, manager string) runtime.Object) {
			b.Run(bm.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					accessor(obj).SetManagedFields(nil)
					update(live, obj, "controller")
				}
			})
		}
		run("fast", func(live, obj runtime.Object, manager string) runtime.Object {
			if !m.fast.Update(live, obj, manager) {
				b.Fatal("the fast path does not support the update")
			}
			return obj
		})
		run("library", m.updateWithLibrary)
		b.Run(bm.name+"/decode", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				decode(b, res, bm.after)
			}
		})
	}
}

// commonApply is an apply to an object that was made by an apply or, if isUpdated is set, by an
// update of another manager. The object does not exist if before is "".
type commonApply struct {
	name, group, plural, before, config string
	isUpdated                           bool
}

func commonApplies() []commonApply {
	return []commonApply{
		{"configmap/create", "", "configmaps", "", configMap("1"), false},
		{"configmap/change", "", "configmaps", configMap("1"), configMap("2"), false},
		{"configmap/same", "", "configmaps", configMap("1"), configMap("1"), false},
		{"configmap/first", "", "configmaps", configMap("1"), configMap("2"), true},
		{"pod/first", "", "pods", pod("1", ""), pod("1", ""), true},
		{"deployment/create", "apps", "deployments", "", deployment("1", 1), false},
		{"deployment/change", "apps", "deployments", deployment("1", 1), deployment("2", 1), false},
		{"deployment/same", "apps", "deployments", deployment("1", 1), deployment("1", 1), false},
		{"deployment/first", "apps", "deployments", deployment("1", 1), deployment("2", 1), true},
	}
}

// start returns the FieldManager and the object before the apply.
func (a commonApply) start(tb testing.TB) (m *FieldManager, live runtime.Object) {
	res := builtin.Table().Lookup(a.group, "v1", a.plural)
	m, err := BuiltinFieldManager(res, "")
	require.NoError(tb, err)
	switch {
	case a.before == "":
		return m, nil
	case a.isUpdated:
		live = m.Update(nil, decode(tb, res, a.before), "other")
	default:
		live, _, err = m.Apply(nil, NewPatch(compact(tb, a.before)), "m", false, "")
		require.NoError(tb, err)
	}
	setUID(live)
	return m, live
}

// BenchmarkApply measures applies with the fast path and with the library, and for comparison the
// decoding of the configuration.
func BenchmarkApply(b *testing.B) {
	for _, apply := range commonApplies() {
		m, live := apply.start(b)
		config := compact(b, apply.config)
		benchApply(b, apply.name, m, live, config)
		b.Run(apply.name+"/decode", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := NewPatch(config).decode()
				require.NoError(b, err)
			}
		})
	}
}

func benchApply(b *testing.B, name string, fast *FieldManager, live runtime.Object, config []byte) {
	for mode, m := range map[string]*FieldManager{"fast": fast, "library": withoutFastPath(fast)} {
		b.Run(name+"/"+mode, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := m.Apply(live, NewPatch(config), "m", true, ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// compact returns JSON without white space, as clients send it.
func compact(tb testing.TB, body string) []byte {
	var out bytes.Buffer
	require.NoError(tb, json.Compact(&out, []byte(body)))
	return out.Bytes()
}

// BenchmarkCustom measures a custom resource of the size of the ConfigMap, and a small one.
func BenchmarkCustom(b *testing.B) {
	s := parseSchema(b, `{"type":"object","properties":{"data":{"type":"object","additionalProperties":{"type":"string"}}}}`)
	for name, body := range map[string]func(string) string{
		"kib": func(v string) string {
			return strings.Replace(configMap(v), `"apiVersion":"v1"`, `"apiVersion":"e.com/v1"`, 1)
		},
		"small": func(v string) string {
			return `{"apiVersion":"e.com/v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"` + v + `"}}`
		},
	} {
		m, err := NewCRDFieldManager(schema.GroupVersionKind{Group: "e.com", Version: "v1", Kind: "ConfigMap"}, s, "")
		require.NoError(b, err)
		live := m.Update(nil, decodeJSON(b, body("1")), "kubectl").(*unstructured.Unstructured)
		setUID(live)
		for write, value := range map[string]string{"same": "1", "update": "2"} {
			obj := decodeJSON(b, body(value))
			setUID(obj)
			b.Run(name+"/"+write, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					obj.SetManagedFields(nil)
					m.Update(live, obj, "controller")
				}
			})
		}
		applied, _, err := m.Apply(nil, NewPatch(compact(b, body("1"))), "m", false, "")
		require.NoError(b, err)
		setUID(applied)
		benchApply(b, name+"/apply/same", m, applied, compact(b, body("1")))
		benchApply(b, name+"/apply/change", m, applied, compact(b, body("2")))
	}
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			_, err := NewCRDFieldManager(widgetKind, s, "")
			require.NoError(b, err)
		}
	})
}

func decode(tb testing.TB, res *resource.Resource, body string) runtime.Object {
	obj := res.New()
	_, err := kjson.UnmarshalStrict([]byte(body), obj)
	require.NoError(tb, err)
	obj.GetObjectKind().SetGroupVersionKind(res.GroupVersionKind())
	return obj
}

// configMap returns a ConfigMap of 1 KiB.
func configMap(value string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","namespace":"default",
		"labels":{"app":"web","tier":"back"},"annotations":{"example.com/owner":"team"}},
		"data":{"a.yaml":"%s","b.yaml":"%s","c":"%s","d":"x"}}`,
		strings.Repeat("k: v\\n", 70), strings.Repeat("n: 1\\n", 60), value)
}

const podSpec = `{"containers":[{"name":"web","image":"nginx:%s","args":["-v","-x"],
	"ports":[{"containerPort":80,"protocol":"TCP","name":"http"},{"containerPort":443}],
	"env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],
	"resources":{"limits":{"cpu":"1","memory":"128Mi"},"requests":{"cpu":"100m","memory":"64Mi"}},
	"volumeMounts":[{"name":"config","mountPath":"/etc/config"}],
	"livenessProbe":{"httpGet":{"path":"/healthz","port":"http"},"periodSeconds":10}},
	{"name":"side","image":"busybox","command":["sleep","1d"]}],
	"volumes":[{"name":"config","configMap":{"name":"settings"}}],
	"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],
	"securityContext":{"runAsNonRoot":true},"serviceAccountName":"web","terminationGracePeriodSeconds":30}`

func pod(image, phase string) string {
	status := "{}"
	if phase != "" {
		status = fmt.Sprintf(`{"phase":%q,"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}],"startTime":"2024-01-01T00:00:00Z",
			"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2024-01-01T00:00:00Z"},
			{"type":"PodScheduled","status":"True","lastTransitionTime":"2024-01-01T00:00:00Z"}],
			"containerStatuses":[{"name":"web","ready":true,"restartCount":0,"image":"nginx","imageID":"x","started":true,
			"state":{"running":{"startedAt":"2024-01-01T00:00:00Z"}}}]}`, phase)
	}
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1","namespace":"default","uid":"u",
		"labels":{"app":"web"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"x","controller":true}]},
		"spec":`+podSpec+`,"status":%s}`, image, status)
}

func deployment(image string, replicas int) string {
	return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default","labels":{"app":"web"}},
		"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":`+podSpec+`}},
		"status":{"replicas":%d,"observedGeneration":1,"conditions":[{"type":"Available","status":"True"}]}}`, image, replicas)
}
