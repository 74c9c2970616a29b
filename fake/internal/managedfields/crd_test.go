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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"example.com/fakeapi/fake/internal/resource/builtin"
)

// crdRecording is testdata/crds.json: schemas, and objects with the managedFields of a v0.37.2
// server.
type crdRecording struct {
	Gear    apiextensionsv1.JSONSchemaProps `json:"gear"`
	Widget  apiextensionsv1.JSONSchemaProps `json:"widget"`
	Untyped apiextensionsv1.JSONSchemaProps `json:"untyped"`
	Gears   []map[string]any                `json:"gears"`
}

func recordedCRDs(t testing.TB) *crdRecording {
	body, err := os.ReadFile("testdata/crds.json")
	require.NoError(t, err)
	r := &crdRecording{}
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(body, r))
	return r
}

func newStructural(t testing.TB, props apiextensionsv1.JSONSchemaProps) *structuralschema.Structural {
	var internal apiextensions.JSONSchemaProps
	require.NoError(t, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, &internal, nil))
	s, err := structuralschema.NewStructural(&internal)
	require.NoError(t, err)
	return s
}

func parseSchema(t testing.TB, text string) *structuralschema.Structural {
	var props apiextensionsv1.JSONSchemaProps
	require.NoError(t, json.Unmarshal([]byte(text), &props))
	return newStructural(t, props)
}

func decodeJSON(t testing.TB, body string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts([]byte(body), &u.Object), "%s", body)
	return u
}

var widgetKind = schema.GroupVersionKind{Group: "oracle.example.com", Version: "v1", Kind: "Widget"}

// customObject is a stored custom resource that a test writes to.
type customObject struct {
	t    *testing.T
	main *FieldManager
	live *unstructured.Unstructured
}

func newCustomObject(t *testing.T, kind schema.GroupVersionKind, s *structuralschema.Structural, opts ...CRDOption) *customObject {
	m, err := NewCRDFieldManager(kind, s, "", opts...)
	require.NoError(t, err)
	return &customObject{t: t, main: m}
}

// store sets the stored object and returns its managedFields.
func (o *customObject) store(obj runtime.Object) string {
	setUID(obj)
	o.live = encodeAndDecode(o.t, obj)
	return formatEntries(o.live)
}

// formatEntries returns the managedFields, each in a line: the manager, the version and the fields.
func formatEntries(u *unstructured.Unstructured) string {
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

// put replaces the object and returns its managedFields.
func (o *customObject) put(m *FieldManager, manager, body string) string {
	var live runtime.Object
	if o.live != nil {
		live = o.live
	}
	want := o.store(withoutFastPath(m).Update(live, decodeJSON(o.t, body), manager))
	got := o.store(m.Update(live, decodeJSON(o.t, body), manager))
	require.Equal(o.t, want, got, "the fast path has another result")
	return got
}

// apply applies a patch and returns the managedFields.
func (o *customObject) apply(m *FieldManager, manager string, force bool, patch string) string {
	if o.live == nil {
		obj, _, err := m.Apply(nil, NewPatch([]byte(patch)), manager, force, "")
		require.NoError(o.t, err)
		return o.store(obj)
	}
	before := o.live.DeepCopy()
	obj, _, err := m.Apply(o.live, NewPatch([]byte(patch)), manager, force, "")
	require.NoError(o.t, err)
	require.Equal(o.t, before, o.live)
	return o.store(obj)
}

// widget returns a Widget with the fields rest.
func widget(rest string) string {
	return `{"apiVersion":"oracle.example.com/v1","kind":"Widget","metadata":{"name":"a"}` + rest + `}`
}

// TestCRDCreate compares the managedFields of new objects with those of kube-apiserver, for all
// kinds of fields: maps, atomic maps, sets, keyed lists, unknown fields, embedded objects.
func TestCRDCreate(t *testing.T) {
	r := recordedCRDs(t)
	kind := schema.GroupVersionKind{Group: "parts.example.org", Version: "v1", Kind: "Gear"}
	m, err := NewCRDFieldManager(kind, newStructural(t, r.Gear), "")
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
		for _, m := range []*FieldManager{m, withoutFastPath(m)} {
			got := m.Update(nil, sent.DeepCopy(), manager).(*unstructured.Unstructured)
			require.Equal(t, formatEntries(want), formatEntries(got))
		}
	}
}

// TestCRDApply has the requests of golden/apply-basic--wd.json: shared fields, conflicts, fields
// without an owner, defaults.
func TestCRDApply(t *testing.T) {
	setDefaults := func(u *unstructured.Unstructured) {
		if spec, has := u.Object["spec"].(map[string]any); has && spec["color"] == nil {
			spec["color"] = "red"
		}
	}
	o := newCustomObject(t, widgetKind, newStructural(t, recordedCRDs(t).Widget), WithStatusSubresource(), WithDefaults(setDefaults))
	require.Equal(t, `m1 Apply v1 {"f:spec":{"f:size":{}}}`, o.apply(o.main, "m1", false, widget(`,"spec":{"size":2}`)))
	require.Equal(t, "red", o.live.Object["spec"].(map[string]any)["color"])
	o.apply(o.main, "m2", false, widget(`,"spec":{"size":2}`))
	_, _, err := o.main.Apply(o.live, NewPatch([]byte(widget(`,"spec":{"size":3}`))), "m2", false, "")
	require.True(t, apierrors.IsConflict(err))
	require.EqualError(t, err, `Apply failed with 1 conflict: conflict with "m1": .spec.size`)
	require.Equal(t, `m2 Apply v1 {"f:spec":{"f:size":{}}}`, o.apply(o.main, "m2", true, widget(`,"spec":{"size":3}`)))
	require.Equal(t, `up Update v1 {"f:spec":{"f:size":{}}}`, o.put(o.main, "up", widget(`,"spec":{"size":4,"color":"red"}`)))
	_, _, err = o.main.Apply(o.live, NewPatch([]byte(widget(`,"metadata2":{}`))), "m1", true, "")
	require.EqualError(t, err, "failed to create typed patch object (/a; oracle.example.com/v1, Kind=Widget): .metadata2: field not declared in schema")
	_, _, err = o.main.Apply(o.live, NewPatch([]byte(`{"apiVersion":"oracle.example.com/v1","kind":"Wrong","metadata":{"name":"a"}}`)), "m1", true, "")
	require.EqualError(t, err, "invalid object type: oracle.example.com/v1, Kind=Wrong")

	o.put(o.main, "up", strings.Replace(widget(`,"spec":{"size":4,"color":"red","replicas":1}`), `"a"`, `"a","managedFields":[{}]`, 1))
	require.Empty(t, o.live.GetManagedFields()) // SA-27
	require.Equal(t, `m1 Apply v1 {"f:spec":{"f:size":{}}}`+"\n"+`before-first-apply Update v1 {"f:spec":{".":{},"f:color":{},"f:replicas":{}}}`,
		o.apply(o.main, "m1", true, widget(`,"spec":{"size":8}`)))

	status, err := NewCRDFieldManager(widgetKind, newStructural(t, recordedCRDs(t).Widget), "status", WithStatusSubresource())
	require.NoError(t, err)
	require.Contains(t, o.apply(status, "m1", false, widget(`,"status":{"phase":"P"},"spec":{"color":"blue"}`)), // SA-22, SA-32
		`m1 Apply v1/status {"f:status":{"f:phase":{}}}`)
	require.NotContains(t, o.apply(o.main, "m3", true, widget(`,"status":{"phase":"Q"},"spec":{"replicas":1}`)), `m3 Apply v1 {"f:status"`)
	require.Contains(t, formatEntries(o.live), `m3 Apply v1 {"f:spec":{"f:replicas":{}}}`)
}

// TestCRDUpdateToNull checks that a manager owns a field that it sets to null. The comparison by
// the fast path has no null.
func TestCRDUpdateToNull(t *testing.T) {
	o := newCustomObject(t, widgetKind, parseSchema(t, `{"type":"object","properties":{"spec":{"type":"object","properties":{"note":{"type":"string","nullable":true}}}}}`))
	o.put(o.main, "a", widget(`,"spec":{"note":"x"}`))
	require.Contains(t, o.put(o.main, "b", widget(`,"spec":{"note":null}`)), `b Update v1 {"f:spec":{"f:note":{}}}`)
}

// TestCRDApplyIntegers checks that integers are int64, in YAML and in JSON, as the scale
// subresource requires.
func TestCRDApplyIntegers(t *testing.T) {
	m, err := NewCRDFieldManager(widgetKind, newStructural(t, recordedCRDs(t).Widget), "")
	require.NoError(t, err)
	for _, patch := range []string{widget(`,"spec":{"size":2}`), "apiVersion: oracle.example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: 2}\n"} {
		obj, _, err := m.Apply(nil, NewPatch([]byte(patch)), "me", false, "")
		require.NoError(t, err)
		require.Equal(t, map[string]any{"size": int64(2)}, obj.(*unstructured.Unstructured).Object["spec"])
	}
}

// TestCRDApplyUntyped has the requests of golden/apply-schemaless--loose.json: lists are atomic,
// maps are not.
func TestCRDApplyUntyped(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "oracle.example.com", Version: "v1", Kind: "Loose"}
	untyped := func(any string) string {
		return `{"apiVersion":"oracle.example.com/v1","kind":"Loose","metadata":{"name":"a"},"any":` + any + `}`
	}
	o := newCustomObject(t, kind, newStructural(t, recordedCRDs(t).Untyped))
	require.Equal(t, `m1 Apply v1 {"f:any":{".":{},"f:l":{},"f:v":{}}}`, o.apply(o.main, "m1", false, untyped(`{"l":[{"name":"x"}],"v":1}`)))
	_, _, err := o.main.Apply(o.live, NewPatch([]byte(untyped(`{"l":[{"name":"y"}]}`))), "m2", false, "")
	require.EqualError(t, err, `Apply failed with 1 conflict: conflict with "m1": .any.l`)
	o.apply(o.main, "m2", false, untyped(`{"w":2}`))
	require.Equal(t, `m1 Apply v1 {"f:any":{}}`+"\n"+`m2 Apply v1 {"f:any":{".":{},"f:w":{}}}`, o.apply(o.main, "m1", false, untyped(`{}`)))

	noSchema := newCustomObject(t, kind, nil)
	require.Equal(t, `m1 Apply v1 {"f:any":{".":{},"f:l":{},"f:v":{}}}`, noSchema.apply(noSchema.main, "m1", false, untyped(`{"l":[{"name":"x"}],"v":1}`)))
}

// TestCRDVersions checks that entries of another version are compared in that version, so that the
// ownership of renamed fields is found.
func TestCRDVersions(t *testing.T) {
	schemaOf := func(field string) *structuralschema.Structural {
		return parseSchema(t, `{"type":"object","properties":{"`+field+`":{"type":"integer"},"other":{"type":"string"}}}`)
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
	o := newCustomObject(t, kind, schemaOf("old"), WithVersion("v2", schemaOf("new"), false), WithConversion(convert))
	second, err := NewCRDFieldManager(kind.GroupKind().WithVersion("v2"), schemaOf("new"), "",
		WithVersion("v1", schemaOf("old"), false), WithConversion(convert))
	require.NoError(t, err)
	to := func(version string) {
		o.live, err = convert(o.live, kind.GroupKind().WithVersion(version).GroupVersion())
		require.NoError(t, err)
	}
	o.apply(o.main, "m1", false, `{"apiVersion":"e.com/v1","kind":"Thing","metadata":{"name":"a"},"old":1}`)
	to("v2")
	_, _, err = second.Apply(o.live, NewPatch([]byte(`{"apiVersion":"e.com/v2","kind":"Thing","metadata":{"name":"a"},"new":2}`)), "m2", false, "")
	require.EqualError(t, err, `Apply failed with 1 conflict: conflict with "m1": .old`)
	require.Equal(t, `m2 Apply v2 {"f:new":{}}`, o.apply(second, "m2", true, `{"apiVersion":"e.com/v2","kind":"Thing","metadata":{"name":"a"},"new":2}`))
	require.Equal(t, "e.com/v2", o.live.GetAPIVersion())
	require.Equal(t, int64(2), o.live.Object["new"])
	to("v1")
	require.Equal(t, `m2 Apply v2 {"f:new":{}}`+"\n"+`u Update v1 {"f:other":{}}`,
		o.put(o.main, "u", `{"apiVersion":"e.com/v1","kind":"Thing","metadata":{"name":"a","uid":"u"},"old":2,"other":"x"}`))

	// With an entry of a removed version, an apply fails and an update does not change the entries.
	removed := newCustomObject(t, kind, schemaOf("old"))
	removed.live = o.live
	_, _, err = removed.main.Apply(removed.live, NewPatch([]byte(`{"apiVersion":"e.com/v1","kind":"Thing","metadata":{"name":"a"},"old":3}`)), "m1", true, "")
	require.ErrorContains(t, err, "request to convert CR to an invalid group/version: e.com/v2")
	other := removed.live.DeepCopy()
	entries := other.GetManagedFields()
	entries[0].APIVersion = "v1"
	other.SetManagedFields(entries)
	_, _, err = removed.main.Apply(other, NewPatch([]byte(`{"apiVersion":"e.com/v1","kind":"Thing","metadata":{"name":"a"},"old":3}`)), "m1", true, "")
	require.ErrorContains(t, err, `e.com/v1, Kind=Thing is unstructured and is not suitable for converting to "v1"`)
	before := formatEntries(removed.live)
	require.Equal(t, before, removed.put(removed.main, "u", `{"apiVersion":"e.com/v1","kind":"Thing","metadata":{"name":"a","uid":"u"},"old":9}`))

	_, err = NewCRDFieldManager(kind, nil, "other")
	require.ErrorContains(t, err, `subresource "other"`)
}

// TestCRDVersionsUnpruned checks that a field that the version of an entry does not have makes an
// apply fail, and that an update leaves the entries as they are.
func TestCRDVersionsUnpruned(t *testing.T) {
	schemaOf := func(field string) *structuralschema.Structural {
		return parseSchema(t, `{"type":"object","properties":{"`+field+`":{"type":"integer"},"both":{"type":"string"}}}`)
	}
	kind := schema.GroupVersionKind{Group: "e.com", Version: "v1", Kind: "Thing"}
	thing := func(version, fields string) string {
		return `{"apiVersion":"e.com/` + version + `","kind":"Thing","metadata":{"name":"a","uid":"u"}` + fields + `}`
	}
	o := newCustomObject(t, kind, schemaOf("old"), WithVersion("v2", schemaOf("new"), false))
	second, err := NewCRDFieldManager(kind.GroupKind().WithVersion("v2"), schemaOf("new"), "", WithVersion("v1", schemaOf("old"), false))
	require.NoError(t, err)
	o.apply(o.main, "m1", false, thing("v1", `,"both":"x"`))
	o.live.SetAPIVersion("e.com/v2")
	_, _, err = second.Apply(o.live, NewPatch([]byte(thing("v2", `,"new":1`))), "m2", true, "")
	require.EqualError(t, err, "failed to convert new object: .new: field not declared in schema")
	require.Equal(t, `m1 Apply v1 {"f:both":{}}`, o.put(second, "u", thing("v2", `,"both":"y","new":1`)))
	_, _, err = second.Apply(o.live, NewPatch([]byte(thing("v2", `,"both":"y"`))), "m2", true, "")
	require.EqualError(t, err, ".new: field not declared in schema")
}

// TestCRDVersionsWithoutWebhook checks the default conversion, which sets the apiVersion only.
func TestCRDVersionsWithoutWebhook(t *testing.T) {
	s := newStructural(t, recordedCRDs(t).Widget)
	o := newCustomObject(t, widgetKind, s, WithVersion("v2", s, false))
	o.apply(o.main, "m1", false, widget(`,"spec":{"size":2}`))
	second, err := NewCRDFieldManager(widgetKind.GroupKind().WithVersion("v2"), s, "", WithVersion("v1", s, false))
	require.NoError(t, err)
	patch := strings.Replace(widget(`,"spec":{"size":2}`), "/v1", "/v2", 1)
	o.live.SetAPIVersion("oracle.example.com/v2")
	require.Equal(t, `m1 Apply v2 {"f:spec":{"f:size":{}}}`, o.apply(second, "m1", false, patch))
	require.Equal(t, "oracle.example.com/v2", o.live.GetAPIVersion())
}

// TestCRDScale checks that a write to the Scale owns the replicas field (PA-22,
// golden/scale--wd.json).
func TestCRDScale(t *testing.T) {
	s := parseSchema(t, `{"type":"object","properties":{"spec":{"type":"object","properties":{"deep":{"type":"object","properties":{"wanted":{"type":"integer"}}},"x":{"type":"string"}}}}}`)
	o := newCustomObject(t, widgetKind, s)
	o.put(o.main, "u", widget(`,"spec":{"deep":{"wanted":1},"x":"y"}`))
	scales, err := NewCRDFieldManager(widgetKind, s, "scale")
	require.NoError(t, err)
	paths := map[string]string{"v1": ".spec.deep.wanted", "v0": ""}
	handler := NewCRDScaleHandler(o.main, paths)
	before := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u"}}
	before.Spec.Replicas = 1
	before.ManagedFields, err = handler.ToSubresource(o.live)
	require.NoError(t, err)
	require.Len(t, before.ManagedFields, 1)
	after := before.DeepCopy()
	after.Spec.Replicas = 5
	after = scales.Update(before, after, "hpa").(*autoscalingv1.Scale)
	require.NoError(t, handler.ToParent(o.live, after.ManagedFields))
	require.ElementsMatch(t, []string{`hpa Update v1/scale {"f:spec":{"f:deep":{"f:wanted":{}}}}`, `u Update v1 {"f:spec":{".":{},"f:deep":{},"f:x":{}}}`},
		strings.Split(formatEntries(o.live), "\n"))
}

// TestCRDScaleApply checks the applies of a Scale that kube-apiserver answers: those that change
// nothing.
func TestCRDScaleApply(t *testing.T) {
	scales, err := NewCRDFieldManager(widgetKind, nil, "scale")
	require.NoError(t, err)
	fields := metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`)
	live := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u", ManagedFields: []metav1.ManagedFieldsEntry{
		{Manager: "m1", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "autoscaling/v1", FieldsType: "FieldsV1", FieldsV1: fields},
	}}}
	live.Spec.Replicas = 2
	patch := func(replicas string) []byte {
		return []byte(`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a"},"spec":{"replicas":` + replicas + `}}`)
	}
	obj, _, err := scales.Apply(live, NewPatch(patch("2")), "m2", false, "")
	require.NoError(t, err)
	require.EqualValues(t, 2, obj.(*autoscalingv1.Scale).Spec.Replicas)
	require.Len(t, accessor(obj).GetManagedFields(), 2)
	_, _, err = scales.Apply(live, NewPatch(patch("3")), "m2", false, "")
	require.EqualError(t, err, `Apply failed with 1 conflict: conflict with "m1": .spec.replicas`)
	_, _, err = scales.Apply(live, NewPatch(patch("3")), "m2", true, "")
	const cannotConvert = "to proper version: request to convert CR to an invalid group/version: autoscaling/v1"
	require.EqualError(t, err, "failed to convert new object (/a; autoscaling/v1, Kind=Scale) "+cannotConvert)
	live.ManagedFields = nil
	_, _, err = scales.Apply(live, NewPatch(patch("2")), "m2", false, "")
	require.EqualError(t, err, "failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) "+cannotConvert)
}

// TestCRDRestoreTimestamps checks that an entry keeps its time if the write changes nothing
// (OC-18).
func TestCRDRestoreTimestamps(t *testing.T) {
	o := newCustomObject(t, widgetKind, newStructural(t, recordedCRDs(t).Widget))
	o.apply(o.main, "m", false, widget(`,"spec":{"size":1}`))
	for _, c := range []struct {
		change   string
		apply    func(*unstructured.Unstructured)
		restored bool
	}{
		{"nothing", func(*unstructured.Unstructured) {}, true},
		{"a field", func(u *unstructured.Unstructured) { u.Object["spec"].(map[string]any)["size"] = int64(2) }, false},
		{"an added field", func(u *unstructured.Unstructured) { u.Object["more"] = true }, false},
		{"a removed field", func(u *unstructured.Unstructured) { delete(u.Object, "spec") }, false},
		{"a label", func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"a": "b"}) }, false},
	} {
		again := o.live.DeepCopy()
		entries := again.GetManagedFields()
		later := metav1.NewTime(entries[0].Time.Add(time.Minute))
		entries[0].Time = &later
		again.SetManagedFields(entries)
		c.apply(again)
		RestoreTimestamps(o.live, again)
		require.Equal(t, !c.restored, again.GetManagedFields()[0].Time.Equal(&later), c.change)
	}
}

// TestCRDMetadata checks that metadata merges as with the full schema of client-go.
func TestCRDMetadata(t *testing.T) {
	full := `{"name":"a","generateName":"g","namespace":"n","selfLink":"s","uid":"u","resourceVersion":"1","generation":2,
		"creationTimestamp":"2020-01-02T03:04:05Z","deletionTimestamp":"2020-01-02T03:04:05Z","deletionGracePeriodSeconds":3,
		"labels":{"a":"b"},"annotations":{"c":"d"},"finalizers":["e.com/f","e.com/g"],
		"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":"1","controller":true,"blockOwnerDeletion":false},{"apiVersion":"v1","kind":"K","name":"p","uid":"2"}]}`
	var meta metav1.ObjectMeta
	require.NoError(t, json.Unmarshal([]byte(full), &meta))
	m, err := BuiltinFieldManager(builtin.Table().Lookup("", "v1", "configmaps"), "")
	require.NoError(t, err)
	want, _, err := m.Apply(nil, NewPatch([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":`+full+`}`)), "m", false, "")
	require.NoError(t, err)
	custom, err := NewCRDFieldManager(widgetKind, newStructural(t, recordedCRDs(t).Widget), "")
	require.NoError(t, err)
	got, _, err := custom.Apply(nil, NewPatch([]byte(`{"apiVersion":"oracle.example.com/v1","kind":"Widget","metadata":`+full+`}`)), "m", false, "")
	require.NoError(t, err)
	require.Equal(t, accessor(want).GetManagedFields()[0].FieldsV1.GetRawString(), accessor(got).GetManagedFields()[0].FieldsV1.GetRawString())
	_, _, err = custom.Apply(nil, NewPatch([]byte(widget("")[:len(widget(""))-2]+`,"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o"}]}}`)), "m", false, "")
	require.NoError(t, err, "the validation of the metadata reports the missing uid")
	for name := range (metav1.ObjectMeta{}).SwaggerDoc() {
		if name != "" {
			require.Contains(t, objectMetaSchema().Properties, name)
		}
	}
}
