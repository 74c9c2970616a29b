package managedfields

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// object is a stored object that a test writes to.
type object struct {
	t    *testing.T
	res  *resource.Resource
	live runtime.Object
}

func newObject(t *testing.T, group, plural string) *object {
	return &object{t: t, res: builtin.Table().Lookup(group, "v1", plural)}
}

func (o *object) manager(subresource string) *FieldManager {
	m, err := BuiltinFieldManager(o.res, subresource)
	require.NoError(o.t, err)
	return m
}

// encodeAndDecode returns obj as it is read from storage.
func (o *object) encodeAndDecode(obj runtime.Object) runtime.Object {
	setUID(obj)
	body, err := json.Marshal(obj)
	require.NoError(o.t, err)
	return decode(o.t, o.res, string(body))
}

// put replaces the object and returns its managedFields.
func (o *object) put(manager, body string) string {
	return o.putAt("", manager, body)
}

func (o *object) putAt(subresource, manager, body string) string {
	before, m := o.live, o.manager(subresource)
	update := func(m *FieldManager) string {
		obj := m.Update(before, decode(o.t, o.res, body), manager)
		if before != nil {
			RestoreTimestamps(before, obj)
		}
		o.live = o.encodeAndDecode(obj)
		return o.entries()
	}
	want := update(withoutFastPath(m))
	got := update(m)
	require.Equal(o.t, want, got, "the fast path has another result")
	return got
}

// apply applies a patch and returns the managedFields.
func (o *object) apply(manager string, force bool, patch string) string {
	obj, warnings, err := o.manager("").Apply(o.live, NewPatch([]byte(patch)), manager, force, "")
	require.NoError(o.t, err)
	require.Empty(o.t, warnings)
	o.live = o.encodeAndDecode(obj)
	return o.entries()
}

// applyError applies a patch, which must fail, and returns the error.
func (o *object) applyError(manager string, force bool, patch string) error {
	before := o.live.DeepCopyObject()
	obj, _, err := o.manager("").Apply(o.live, NewPatch([]byte(patch)), manager, force, "")
	require.Error(o.t, err)
	require.Nil(o.t, obj)
	require.Equal(o.t, before, o.live)
	return err
}

// entries returns the managedFields, each in a line: the manager, whether there is no time, the
// fields.
func (o *object) entries() string {
	var lines []string
	for _, e := range accessor(o.live).GetManagedFields() {
		line := fmt.Sprintf("%s %s %s", e.Manager, e.Operation, e.APIVersion)
		if e.Subresource != "" {
			line += "/" + e.Subresource
		}
		if e.Time == nil {
			line += " (no time)"
		}
		require.Equal(o.t, "FieldsV1", e.FieldsType)
		lines = append(lines, line+" "+e.FieldsV1.GetRawString())
	}
	return strings.Join(lines, "\n")
}

func configMapWith(data string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":` + data + `}`
}

// The expected managedFields are the responses of kube-apiserver v1.37 to the same requests.

func TestCreate(t *testing.T) {
	cm := newObject(t, "", "configmaps")
	require.Equal(t, `replay Update v1 {"f:data":{".":{},"f:k":{}},"f:metadata":{"f:labels":{".":{},"f:x":{}}}}`,
		cm.put("replay", `{"metadata":{"name":"a","labels":{"x":"y"}},"data":{"k":"1"}}`))

	pod := newObject(t, "", "pods")
	require.Equal(t, `replay Update v1 {"f:metadata":{"f:labels":{".":{},"f:x":{}}},"f:spec":{"f:containers":`+
		`{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{},"f:resources":{}}}}}`,
		pod.put("replay", `{"metadata":{"name":"a","labels":{"x":"y"}},"spec":{"containers":[{"name":"c","image":"i:1"}]},"status":{"phase":"Running"}}`))
}

func TestUpdateWithoutChanges(t *testing.T) {
	cm := newObject(t, "", "configmaps")
	first := cm.put("replay", configMapWith(`{"k":"1"}`))
	require.Equal(t, `replay Update v1 {"f:data":{".":{},"f:k":{}}}`, first)
	entries := accessor(cm.live).GetManagedFields()
	require.Equal(t, first, cm.put("replay", configMapWith(`{"k":"1"}`)))
	require.Equal(t, first, cm.put("other", configMapWith(`{"k":"1"}`)))
	require.Equal(t, entries, accessor(cm.live).GetManagedFields())
	require.Equal(t, first, cm.put("replay", configMapWith(`{"k":"2"}`)))
}

func TestUpdateOfLabels(t *testing.T) {
	cm := newObject(t, "", "configmaps")
	at := func(metadata string) string {
		return cm.put("replay", `{"metadata":{"name":"a",`+metadata+`},"data":{"k":"5"}}`)
	}
	at(`"labels":{"i":"0","app":"x"}`)
	require.Equal(t, `replay Update v1 {"f:data":{".":{},"f:k":{}},"f:metadata":{"f:labels":{".":{},"f:app":{},"f:new":{}}}}`,
		at(`"labels":{"new":"1","app":"x"}`))
	require.Equal(t, `replay Update v1 {"f:data":{".":{},"f:k":{}},"f:metadata":{"f:annotations":{".":{},"f:s":{}},"f:labels":{".":{},"f:app":{},"f:new":{}}}}`,
		at(`"labels":{"new":"1","app":"x"},"annotations":{"s":"1"}`))
	require.Equal(t, `replay Update v1 {"f:data":{".":{},"f:k":{}},"f:metadata":{"f:annotations":{".":{},"f:s":{}},"f:labels":{".":{},"f:absent":{},"f:app":{},"f:copied":{},"f:moved":{},"f:new":{}}}}`,
		at(`"labels":{"new":"1","app":"x","absent":"x","moved":"1","copied":"1"},"annotations":{"s":"1"}`))
}

func TestKeyedListsAndSets(t *testing.T) {
	d := newObject(t, "apps", "deployments")
	got := d.put("replay", `{"metadata":{"name":"d","finalizers":["example.com/b","example.com/a"]},"spec":{"selector":{"matchLabels":{"a":"b"}},
		"strategy":{"rollingUpdate":{"maxSurge":1},"type":"RollingUpdate"},"template":{"metadata":{"labels":{"a":"b"}},"spec":{
		"containers":[{"name":"c3","image":"i3"},{"name":"c1","image":"i","ports":[{"containerPort":80}],"env":[{"name":"B","value":"1"},{"name":"A","value":"1"}]}],
		"tolerations":[{"key":"y"}]}}}}`)
	require.Equal(t, `replay Update apps/v1 {"f:metadata":{"f:finalizers":{".":{},"v:\"example.com/a\"":{},"v:\"example.com/b\"":{}}},`+
		`"f:spec":{"f:selector":{},"f:strategy":{"f:rollingUpdate":{".":{},"f:maxSurge":{}},"f:type":{}},"f:template":{"f:metadata":{"f:labels":{".":{},"f:a":{}}},`+
		`"f:spec":{"f:containers":{"k:{\"name\":\"c1\"}":{".":{},"f:env":{".":{},"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}},"k:{\"name\":\"B\"}":{".":{},"f:name":{},"f:value":{}}},`+
		`"f:image":{},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}},"f:resources":{}},`+
		`"k:{\"name\":\"c3\"}":{".":{},"f:image":{},"f:name":{},"f:resources":{}}},"f:tolerations":{}}}}}`, got)
}

func TestApply(t *testing.T) {
	cm := newObject(t, "", "configmaps")
	const k = ` {"f:data":{"f:k":{}}}`
	require.Equal(t, `m1 Apply v1`+k, cm.apply("m1", false, configMapWith(`{"k":"1"}`)))
	first := cm.live
	require.Equal(t, `m1 Apply v1`+k, cm.apply("m1", false, configMapWith(`{"k":"1"}`)))
	require.Equal(t, first, cm.live, "a repeated apply changes nothing (SA-04)")
	require.Equal(t, `m1 Apply v1`+k, cm.apply("m1", false, configMapWith(`{"k":"2"}`)))
	require.Equal(t, "m2 Apply v1 (no time)"+k+"\nm1 Apply v1"+k, cm.apply("m2", false, configMapWith(`{"k":"2"}`)))
	requireConflict(t, cm.applyError("m2", false, configMapWith(`{"k":"3"}`)),
		`Apply failed with 1 conflict: conflict with "m1": .data.k`, `conflict with "m1"`, ".data.k")
	require.Equal(t, `m2 Apply v1`+k, cm.apply("m2", true, configMapWith(`{"k":"3"}`)))
	require.Equal(t, `updater Update v1`+k, cm.put("updater", configMapWith(`{"k":"4"}`)))
	requireConflict(t, cm.applyError("m1", false, configMapWith(`{"k":"5"}`)),
		`Apply failed with 1 conflict: conflict with "updater" using v1: .data.k`, `conflict with "updater" using v1`, ".data.k")
	require.Equal(t, `m1 Apply v1`+k, cm.apply("m1", true, configMapWith(`{"k":"1"}`)))
	require.Equal(t, `m1 Apply v1`+k, cm.apply("m2", false, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`))

	require.Empty(t, cm.put("replay", `{"metadata":{"name":"a","managedFields":[{}]},"data":{"k":"1"}}`))
	require.Empty(t, cm.put("replay", `{"metadata":{"name":"a","managedFields":[]},"data":{"k":"1"}}`))
	require.Equal(t, `m1 Apply v1`+k+"\n"+`before-first-apply Update v1 {"f:data":{}}`,
		cm.apply("m1", true, configMapWith(`{"k":"8"}`)))

	yam := newObject(t, "", "configmaps")
	require.Empty(t, yam.apply("m1", false, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yam\n"))
	require.Equal(t, "yam", accessor(yam.live).GetName())
}

func requireConflict(t *testing.T, err error, message, cause, field string) {
	t.Helper()
	require.True(t, apierrors.IsConflict(err))
	status := err.(apierrors.APIStatus).Status()
	require.Equal(t, message, status.Message)
	require.Equal(t, int32(http.StatusConflict), status.Code)
	require.Equal(t, &metav1.StatusDetails{Causes: []metav1.StatusCause{
		{Type: metav1.CauseTypeFieldManagerConflict, Message: cause, Field: field},
	}}, status.Details)
}

func TestApplyErrors(t *testing.T) {
	cm := newObject(t, "", "configmaps")
	cm.apply("m1", false, configMapWith(`{"k":"1"}`))
	for _, tc := range []struct{ rule, patch, want string }{
		{"SA-12", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","managedFields":[{"manager":"x","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{}}]}}`, "metadata.managedFields must be nil"},
		{"SA-13", `{"apiVersion":"v9","kind":"ConfigMap","metadata":{"name":"a"}}`, "invalid object type: /v9, Kind=ConfigMap"},
		{"SA-14", `{"metadata":{"name":"a"}}`, "invalid object type: /, Kind="},
		{"SA-14", `{"apiVersion":"v1","kind":"Wrong","metadata":{"name":"a"}}`, "invalid object type: /v1, Kind=Wrong"},
		{"SA-14", `null`, "invalid object type: /, Kind="},
		{"SA-14", ``, "invalid object type: /, Kind="},
		{"SA-15", `:::not yaml`, "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go value of type map[string]interface {}"},
		{"SA-15", "a: b: c", "error decoding patch: error converting YAML to JSON: yaml: mapping values are not allowed in this context"},
	} {
		err := cm.applyError("m1", true, tc.patch)
		require.True(t, apierrors.IsBadRequest(err), "%s: %v", tc.rule, err)
		require.Equal(t, tc.want, err.Error(), tc.rule)
	}
	for _, tc := range []struct{ rule, patch, want string }{
		{"SA-17", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"metadata2":{}}`, "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .metadata2: field not declared in schema"},
		{"SA-17", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","ownerReferences":[null]}}`, "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .metadata.ownerReferences: element 0: associative list with keys may not have a null element"},
		{"SA-17", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"x":null}`, "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .x: field not declared in schema"},
		{"SA-16", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","finalizers":["x","x"]}}`, `failed to create typed patch object (/a; /v1, Kind=ConfigMap): .metadata.finalizers: duplicate entries for key [="x"]`},
	} {
		err := cm.applyError("m1", true, tc.patch)
		require.Equal(t, metav1.StatusReasonUnknown, apierrors.ReasonForError(err))
		require.Equal(t, tc.want, err.Error(), tc.rule)
	}
}

// The result of an apply may be an object that a real server cannot convert.
func TestApplyConversionError(t *testing.T) {
	d := newObject(t, "apps", "deployments")
	const patch = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"n","annotations":{"deprecated.deployment.rollback.to":"%s"}}}`
	d.apply("m", false, fmt.Sprintf(patch, "1"))
	require.EqualError(t, d.applyError("m", false, fmt.Sprintf(patch, "x")), "failed to convert to unversioned (n/a; apps/v1, Kind=Deployment): "+
		`failed to parse annotation[deprecated.deployment.rollback.to]=x as int64: strconv.ParseInt: parsing "x": invalid syntax`)
}

func TestApplyFieldValidation(t *testing.T) {
	cm := newObject(t, "", "configmaps")
	patch := []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: \"1\"\n  k: \"2\"\n")
	const duplicate = `error converting YAML to JSON: yaml: unmarshal errors:` + "\n" + `  line 6: key "k" already set in map`
	_, warnings, err := cm.manager("").Apply(nil, NewPatch(patch), "m", false, "Ignore")
	require.NoError(t, err)
	require.Empty(t, warnings)
	_, warnings, err = cm.manager("").Apply(nil, NewPatch(patch), "m", false, "Warn")
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	require.EqualError(t, warnings[0], duplicate)
	_, _, err = cm.manager("").Apply(nil, NewPatch(patch), "m", false, "Strict")
	require.True(t, apierrors.IsBadRequest(err))
	require.EqualError(t, err, "error strict decoding patch: "+duplicate)
}
