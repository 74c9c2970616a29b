package managedfields

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"example.com/fakeapi/fake/internal/resource/builtin"
)

// recorded is testdata/custom.json: schemas, and objects as a real v0.37.2 server has
// tracked them.
type recorded struct {
	Gear   apiextensionsv1.JSONSchemaProps `json:"gear"`
	Widget apiextensionsv1.JSONSchemaProps `json:"widget"`
	Loose  apiextensionsv1.JSONSchemaProps `json:"loose"`
	Gears  []map[string]any                `json:"gears"`
}

func recording(t testing.TB) *recorded {
	body, err := os.ReadFile("testdata/custom.json")
	require.NoError(t, err)
	r := &recorded{}
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(body, r))
	return r
}

func structural(t testing.TB, props apiextensionsv1.JSONSchemaProps) *structuralschema.Structural {
	var internal apiextensions.JSONSchemaProps
	require.NoError(t, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, &internal, nil))
	s, err := structuralschema.NewStructural(&internal)
	require.NoError(t, err)
	return s
}

func structuralOf(t testing.TB, text string) *structuralschema.Structural {
	var props apiextensionsv1.JSONSchemaProps
	require.NoError(t, json.Unmarshal([]byte(text), &props))
	return structural(t, props)
}

func raw(t testing.TB, body string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts([]byte(body), &u.Object), "%s", body)
	return u
}

var widgetKind = schema.GroupVersionKind{Group: "oracle.example.com", Version: "v1", Kind: "Widget"}

// thing is one custom resource that a test writes to, as a server would keep it.
type thing struct {
	t    *testing.T
	main *FieldManager
	live *unstructured.Unstructured
}

func newThing(t *testing.T, kind schema.GroupVersionKind, s *structuralschema.Structural, opts ...CRDOption) *thing {
	tracker, err := NewCRDFieldManager(kind, s, "", opts...)
	require.NoError(t, err)
	return &thing{t: t, main: tracker}
}

func (o *thing) keep(obj any) string {
	u := obj.(*unstructured.Unstructured)
	uid(u)
	body, err := json.Marshal(u)
	require.NoError(o.t, err)
	o.live = raw(o.t, string(body))
	return entriesOf(o.live)
}

func entriesOf(u *unstructured.Unstructured) string {
	var lines []string
	for _, e := range u.GetManagedFields() {
		version := e.APIVersion[strings.LastIndex(e.APIVersion, "/")+1:]
		if e.Subresource != "" {
			version += "/" + e.Subresource
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %s", e.Manager, e.Operation, version, e.FieldsV1.GetRawString()))
	}
	return strings.Join(lines, "\n")
}

func (o *thing) put(tracker *FieldManager, manager, body string) string {
	if o.live == nil {
		return o.keep(tracker.Update(nil, raw(o.t, body), manager))
	}
	return o.keep(tracker.Update(o.live, raw(o.t, body), manager))
}

func (o *thing) apply(tracker *FieldManager, manager string, force bool, patch string) string {
	if o.live == nil {
		obj, _, err := tracker.Apply(nil, []byte(patch), manager, force, "")
		require.NoError(o.t, err)
		return o.keep(obj)
	}
	before := o.live.DeepCopy()
	obj, _, err := tracker.Apply(o.live, []byte(patch), manager, force, "")
	require.NoError(o.t, err)
	require.Equal(o.t, before, o.live)
	return o.keep(obj)
}

func widget(rest string) string {
	return `{"apiVersion":"oracle.example.com/v1","kind":"Widget","metadata":{"name":"a"}` + rest + `}`
}

// Every kind of field has the owners that a real server gives it: maps, atomic ones,
// sets, lists with keys, what is preserved, embedded objects.
func TestCustomOwnersAreThoseOfARealServer(t *testing.T) {
	r := recording(t)
	kind := schema.GroupVersionKind{Group: "parts.example.org", Version: "v1", Kind: "Gear"}
	tracker, err := NewCRDFieldManager(kind, structural(t, r.Gear), "")
	require.NoError(t, err)
	require.NotEmpty(t, r.Gears)
	for _, gear := range r.Gears {
		want := &unstructured.Unstructured{Object: gear}
		sent := want.DeepCopy()
		sent.SetManagedFields(nil)
		for _, field := range []string{"creationTimestamp", "generation", "resourceVersion", "uid"} {
			unstructured.RemoveNestedField(sent.Object, "metadata", field)
		}
		manager := want.GetManagedFields()[0].Manager
		got := tracker.Update(nil, sent, manager).(*unstructured.Unstructured)
		require.Equal(t, entriesOf(want), entriesOf(got))
	}
}

// What golden/apply-basic--wd.json has: sharing, conflicts, what nobody owned before,
// defaults, which nobody owns.
func TestCustomApply(t *testing.T) {
	fill := func(u *unstructured.Unstructured) {
		if spec, has := u.Object["spec"].(map[string]any); has && spec["color"] == nil {
			spec["color"] = "red"
		}
	}
	o := newThing(t, widgetKind, structural(t, recording(t).Widget), WithStatusSubresource(), WithDefaults(fill))
	require.Equal(t, `m1 Apply v1 {"f:spec":{"f:size":{}}}`, o.apply(o.main, "m1", false, widget(`,"spec":{"size":2}`)))
	require.Equal(t, "red", o.live.Object["spec"].(map[string]any)["color"])
	o.apply(o.main, "m2", false, widget(`,"spec":{"size":2}`))
	_, _, err := o.main.Apply(o.live, []byte(widget(`,"spec":{"size":3}`)), "m2", false, "")
	require.True(t, apierrors.IsConflict(err))
	require.EqualError(t, err, `Apply failed with 1 conflict: conflict with "m1": .spec.size`)
	require.Equal(t, `m2 Apply v1 {"f:spec":{"f:size":{}}}`, o.apply(o.main, "m2", true, widget(`,"spec":{"size":3}`)))
	require.Equal(t, `up Update v1 {"f:spec":{"f:size":{}}}`, o.put(o.main, "up", widget(`,"spec":{"size":4,"color":"red"}`)))
	_, _, err = o.main.Apply(o.live, []byte(widget(`,"metadata2":{}`)), "m1", true, "")
	require.EqualError(t, err, "failed to create typed patch object (/a; oracle.example.com/v1, Kind=Widget): .metadata2: field not declared in schema")
	_, _, err = o.main.Apply(o.live, []byte(`{"apiVersion":"oracle.example.com/v1","kind":"Wrong","metadata":{"name":"a"}}`), "m1", true, "")
	require.EqualError(t, err, "invalid object type: oracle.example.com/v1, Kind=Wrong")

	o.put(o.main, "up", strings.Replace(widget(`,"spec":{"size":4,"color":"red","replicas":1}`), `"a"`, `"a","managedFields":[{}]`, 1))
	require.Empty(t, o.live.GetManagedFields()) // SA-27
	require.Equal(t, `m1 Apply v1 {"f:spec":{"f:size":{}}}`+"\n"+`before-first-apply Update v1 {"f:spec":{".":{},"f:color":{},"f:replicas":{}}}`,
		o.apply(o.main, "m1", true, widget(`,"spec":{"size":8}`)))

	status, err := NewCRDFieldManager(widgetKind, structural(t, recording(t).Widget), "status", WithStatusSubresource())
	require.NoError(t, err)
	require.Contains(t, o.apply(status, "m1", false, widget(`,"status":{"phase":"P"},"spec":{"color":"blue"}`)), // SA-22, SA-32
		`m1 Apply v1/status {"f:status":{"f:phase":{}}}`)
	require.NotContains(t, o.apply(o.main, "m3", true, widget(`,"status":{"phase":"Q"},"spec":{"replicas":1}`)), `m3 Apply v1 {"f:status"`)
	require.Contains(t, entriesOf(o.live), `m3 Apply v1 {"f:spec":{"f:replicas":{}}}`)
}

// Whole numbers are int64, in YAML and in JSON: the subresource scale takes no others.
func TestCustomApplyOfWholeNumbers(t *testing.T) {
	tracker, err := NewCRDFieldManager(widgetKind, structural(t, recording(t).Widget), "")
	require.NoError(t, err)
	for _, patch := range []string{widget(`,"spec":{"size":2}`), "apiVersion: oracle.example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: 2}\n"} {
		obj, _, err := tracker.Apply(nil, []byte(patch), "me", false, "")
		require.NoError(t, err)
		require.Equal(t, map[string]any{"size": int64(2)}, obj.(*unstructured.Unstructured).Object["spec"])
	}
}

// What golden/apply-schemaless--loose.json has: lists are atomic, maps are not.
func TestCustomApplyToWhatIsPreserved(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "oracle.example.com", Version: "v1", Kind: "Loose"}
	loose := func(any string) string {
		return `{"apiVersion":"oracle.example.com/v1","kind":"Loose","metadata":{"name":"a"},"any":` + any + `}`
	}
	o := newThing(t, kind, structural(t, recording(t).Loose))
	require.Equal(t, `m1 Apply v1 {"f:any":{".":{},"f:l":{},"f:v":{}}}`, o.apply(o.main, "m1", false, loose(`{"l":[{"name":"x"}],"v":1}`)))
	_, _, err := o.main.Apply(o.live, []byte(loose(`{"l":[{"name":"y"}]}`)), "m2", false, "")
	require.EqualError(t, err, `Apply failed with 1 conflict: conflict with "m1": .any.l`)
	o.apply(o.main, "m2", false, loose(`{"w":2}`))
	require.Equal(t, `m1 Apply v1 {"f:any":{}}`+"\n"+`m2 Apply v1 {"f:any":{".":{},"f:w":{}}}`, o.apply(o.main, "m1", false, loose(`{}`)))

	none := newThing(t, kind, nil)
	require.Equal(t, `m1 Apply v1 {"f:any":{".":{},"f:l":{},"f:v":{}}}`, none.apply(none.main, "m1", false, loose(`{"l":[{"name":"x"}],"v":1}`)))
}

// Entries of another version are compared in that one, and renamed fields follow.
func TestCustomVersions(t *testing.T) {
	schemaOf := func(field string) *structuralschema.Structural {
		return structuralOf(t, `{"type":"object","properties":{"`+field+`":{"type":"integer"},"other":{"type":"string"}}}`)
	}
	convert := func(u *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error) {
		out := u.DeepCopy()
		from, into := "old", "new"
		if to.Version == "v1" {
			from, into = into, from
		}
		if value, has := out.Object[from]; has {
			delete(out.Object, from)
			out.Object[into] = value
		}
		out.SetAPIVersion(to.String())
		return out, nil
	}
	kind := schema.GroupVersionKind{Group: "e.com", Version: "v1", Kind: "Thing"}
	o := newThing(t, kind, schemaOf("old"), WithVersion("v2", schemaOf("new"), false), WithConversion(convert))
	second, err := NewCRDFieldManager(kind.GroupKind().WithVersion("v2"), schemaOf("new"), "",
		WithVersion("v1", schemaOf("old"), false), WithConversion(convert))
	require.NoError(t, err)
	to := func(version string) {
		o.live, err = convert(o.live, kind.GroupKind().WithVersion(version).GroupVersion())
		require.NoError(t, err)
	}
	o.apply(o.main, "m1", false, `{"apiVersion":"e.com/v1","kind":"Thing","metadata":{"name":"a"},"old":1}`)
	to("v2")
	_, _, err = second.Apply(o.live, []byte(`{"apiVersion":"e.com/v2","kind":"Thing","metadata":{"name":"a"},"new":2}`), "m2", false, "")
	require.EqualError(t, err, `Apply failed with 1 conflict: conflict with "m1": .old`)
	require.Equal(t, `m2 Apply v2 {"f:new":{}}`, o.apply(second, "m2", true, `{"apiVersion":"e.com/v2","kind":"Thing","metadata":{"name":"a"},"new":2}`))
	require.Equal(t, "e.com/v2", o.live.GetAPIVersion())
	require.Equal(t, int64(2), o.live.Object["new"])
	to("v1")
	require.Equal(t, `m2 Apply v2 {"f:new":{}}`+"\n"+`u Update v1 {"f:other":{}}`,
		o.put(o.main, "u", `{"apiVersion":"e.com/v1","kind":"Thing","metadata":{"name":"a","uid":"u"},"old":2,"other":"x"}`))

	// A version that is gone fails an apply; a plain write goes on.
	gone := newThing(t, kind, schemaOf("old"))
	gone.live = o.live
	_, _, err = gone.main.Apply(gone.live, []byte(`{"apiVersion":"e.com/v1","kind":"Thing","metadata":{"name":"a"},"old":3}`), "m1", true, "")
	require.ErrorContains(t, err, "request to convert CR to an invalid group/version: e.com/v2")
	before := entriesOf(gone.live)
	require.Equal(t, before, gone.put(gone.main, "u", `{"apiVersion":"e.com/v1","kind":"Thing","metadata":{"name":"a","uid":"u"},"old":9}`))

	_, err = NewCRDFieldManager(kind, nil, "other")
	require.ErrorContains(t, err, `subresource "other"`)
}

// None as a conversion: the fields stay, the apiVersion does not.
func TestCustomVersionsByNone(t *testing.T) {
	s := structural(t, recording(t).Widget)
	o := newThing(t, widgetKind, s, WithVersion("v2", s, false))
	o.apply(o.main, "m1", false, widget(`,"spec":{"size":2}`))
	second, err := NewCRDFieldManager(widgetKind.GroupKind().WithVersion("v2"), s, "", WithVersion("v1", s, false))
	require.NoError(t, err)
	patch := strings.Replace(widget(`,"spec":{"size":2}`), "/v1", "/v2", 1)
	o.live.SetAPIVersion("oracle.example.com/v2")
	require.Equal(t, `m1 Apply v2 {"f:spec":{"f:size":{}}}`, o.apply(second, "m1", false, patch))
	require.Equal(t, "oracle.example.com/v2", o.live.GetAPIVersion())
}

// A Scale owns the replicas wherever they are (PA-22, golden/scale--wd.json).
func TestCustomScale(t *testing.T) {
	s := structuralOf(t, `{"type":"object","properties":{"spec":{"type":"object","properties":{"deep":{"type":"object","properties":{"wanted":{"type":"integer"}}},"x":{"type":"string"}}}}}`)
	o := newThing(t, widgetKind, s)
	o.put(o.main, "u", widget(`,"spec":{"deep":{"wanted":1},"x":"y"}`))
	scales, err := NewCRDFieldManager(widgetKind, s, "scale")
	require.NoError(t, err)
	paths := map[string]string{"v1": ".spec.deep.wanted", "v0": ""}
	scaled := NewCRDScaleHandler(widgetKind.GroupVersion(), paths, o.live.GetManagedFields())
	before := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u"}}
	before.Spec.Replicas = 1
	before.ManagedFields, err = scaled.ToSubresource()
	require.NoError(t, err)
	require.Len(t, before.ManagedFields, 1)
	after := before.DeepCopy()
	after.Spec.Replicas = 5
	after = scales.Update(before, after, "hpa").(*autoscalingv1.Scale)
	entries, err := scaled.ToParent(after.ManagedFields)
	require.NoError(t, err)
	o.live.SetManagedFields(entries)
	require.ElementsMatch(t, []string{`hpa Update v1/scale {"f:spec":{"f:deep":{"f:wanted":{}}}}`, `u Update v1 {"f:spec":{".":{},"f:deep":{},"f:x":{}}}`},
		strings.Split(entriesOf(o.live), "\n"))
}

// A write that says again what is there is none (OC-18): the entry keeps its time.
func TestCustomKeepTimes(t *testing.T) {
	o := newThing(t, widgetKind, structural(t, recording(t).Widget))
	o.apply(o.main, "m", false, widget(`,"spec":{"size":1}`))
	for _, c := range []struct {
		change string
		with   func(*unstructured.Unstructured)
		keeps  bool
	}{
		{"nothing", func(*unstructured.Unstructured) {}, true},
		{"a field", func(u *unstructured.Unstructured) { u.Object["spec"].(map[string]any)["size"] = int64(2) }, false},
		{"a field more", func(u *unstructured.Unstructured) { u.Object["more"] = true }, false},
		{"a field less", func(u *unstructured.Unstructured) { delete(u.Object, "spec") }, false},
		{"a label", func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"a": "b"}) }, false},
	} {
		again := o.live.DeepCopy()
		entries := again.GetManagedFields()
		later := metav1.NewTime(entries[0].Time.Add(time.Minute))
		entries[0].Time = &later
		again.SetManagedFields(entries)
		c.with(again)
		RestoreTimestamps(o.live, again)
		require.Equal(t, !c.keeps, again.GetManagedFields()[0].Time.Equal(&later), c.change)
	}
}

// The short schema of metadata merges as that of client-go does.
func TestMetadataOfCustomResources(t *testing.T) {
	full := `{"name":"a","generateName":"g","namespace":"n","selfLink":"s","uid":"u","resourceVersion":"1","generation":2,
		"creationTimestamp":"2020-01-02T03:04:05Z","deletionTimestamp":"2020-01-02T03:04:05Z","deletionGracePeriodSeconds":3,
		"labels":{"a":"b"},"annotations":{"c":"d"},"finalizers":["e.com/f","e.com/g"],
		"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":"1","controller":true,"blockOwnerDeletion":false},{"apiVersion":"v1","kind":"K","name":"p","uid":"2"}]}`
	var meta metav1.ObjectMeta
	require.NoError(t, json.Unmarshal([]byte(full), &meta))
	builtin, err := BuiltinFieldManager(builtin.Table().Lookup("", "v1", "configmaps"), "")
	require.NoError(t, err)
	want, _, err := builtin.Apply(nil, []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":`+full+`}`), "m", false, "")
	require.NoError(t, err)
	custom, err := NewCRDFieldManager(widgetKind, structural(t, recording(t).Widget), "")
	require.NoError(t, err)
	got, _, err := custom.Apply(nil, []byte(`{"apiVersion":"oracle.example.com/v1","kind":"Widget","metadata":`+full+`}`), "m", false, "")
	require.NoError(t, err)
	require.Equal(t, accessor(want).GetManagedFields()[0].FieldsV1.GetRawString(), accessor(got).GetManagedFields()[0].FieldsV1.GetRawString())
	for name := range (metav1.ObjectMeta{}).SwaggerDoc() {
		if name != "" {
			require.Contains(t, metaSchema().Properties, name)
		}
	}
}
