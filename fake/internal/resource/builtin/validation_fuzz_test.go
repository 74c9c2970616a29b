package builtin

import (
	"encoding/json"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func FuzzCore(f *testing.F)         { fuzzGroups(f, "", "events.k8s.io", "discovery.k8s.io") }
func FuzzWorkloads(f *testing.F)    { fuzzGroups(f, "apps", "batch", "autoscaling", "policy") }
func FuzzNetworking(f *testing.F)   { fuzzGroups(f, "networking.k8s.io") }
func FuzzStorage(f *testing.F)      { fuzzGroups(f, "storage.k8s.io", "storagemigration.k8s.io") }
func FuzzDevices(f *testing.F)      { fuzzGroups(f, "resource.k8s.io", "node.k8s.io") }
func FuzzAccess(f *testing.F)       { fuzzGroups(f, "rbac.authorization.k8s.io", "certificates.k8s.io") }
func FuzzAdmission(f *testing.F)    { fuzzGroups(f, "admissionregistration.k8s.io") }
func FuzzCoordination(f *testing.F) { fuzzGroups(f, "coordination.k8s.io", "scheduling.k8s.io") }
func FuzzFlowControl(f *testing.F)  { fuzzGroups(f, "flowcontrol.apiserver.k8s.io") }

// fuzzGroups validates arbitrary objects of the types of groups, as new ones, as updates of another
// object and as updates by each subresource.
func fuzzGroups(f *testing.F, groups ...string) {
	var types []*resource.Resource
	for _, group := range groups {
		before := len(types)
		for _, res := range Table().Stored() {
			if res.Group == group {
				types = append(types, res)
			}
		}
		if len(types) == before {
			f.Fatalf("there are no types of %q", group)
		}
	}
	filler := newFiller(1)
	for i, res := range types {
		for range 4 {
			obj, old := res.New(), res.New()
			filler.Fill(obj)
			filler.Fill(old)
			f.Add(uint8(i), marshal(f, obj), marshal(f, old))
		}
		f.Add(uint8(i), []byte(`{}`), []byte(`{"spec":null,"status":{}}`))
	}
	f.Fuzz(func(t *testing.T, i uint8, body, oldBody []byte) {
		res := types[int(i)%len(types)]
		obj, old := decodeOrNil(res, body), decodeOrNil(res, oldBody)
		if obj == nil || old == nil {
			return
		}
		validateAll(t, res, obj, old)
	})
}

func marshal(f *testing.F, obj runtime.Object) []byte {
	f.Helper()
	body, err := json.Marshal(obj)
	if err != nil {
		f.Fatal(err)
	}
	return body
}

// decodeOrNil returns the stored form of a body, nil if the body cannot be decoded.
func decodeOrNil(res *resource.Resource, body []byte) runtime.Object {
	obj := res.New()
	if kjson.UnmarshalCaseSensitivePreserveInts(body, obj) != nil {
		return nil
	}
	stored, err := res.Convert(obj, res.StorageVersion)
	if err != nil {
		return nil
	}
	return res.Canonical(stored)
}

// validateAll calls all validation of a type. The errors must have a text, and an object must have
// the same errors every time.
func validateAll(t *testing.T, res *resource.Resource, obj, old runtime.Object) {
	ctx := t.Context()
	invalid := false
	check := func(validate func() field.ErrorList) {
		first, second := validatetest.Texts(validate()), validatetest.Texts(validate())
		if !reflect.DeepEqual(first, second) {
			t.Errorf("%s has other errors at a second look:\n%q\n%q", res.Plural, first, second)
		}
		invalid = invalid || len(first) > 0
	}
	if res.Validate != nil {
		check(func() field.ErrorList { return res.Validate(ctx, obj, nil) })
	}
	if res.ValidateUpdate != nil {
		check(func() field.ErrorList { return res.ValidateUpdate(ctx, obj, old, resource.MetadataErrors{}) })
	}
	if declarative := res.ValidateDeclaratively; declarative != nil {
		check(func() field.ErrorList { return declarative(ctx, operation.Operation{Type: operation.Create}, obj, nil) })
		check(func() field.ErrorList { return declarative(ctx, operation.Operation{Type: operation.Update}, obj, old) })
	}
	if res.WarningsOnCreate != nil && !invalid {
		res.WarningsOnCreate(obj)
	}
	if res.WarningsOnUpdate != nil && !invalid {
		res.WarningsOnUpdate(obj, old)
	}
	for _, sub := range res.Subresources {
		if sub.ValidateUpdate != nil {
			check(func() field.ErrorList { return sub.ValidateUpdate(ctx, obj, old, resource.MetadataErrors{}) })
		}
	}
}
