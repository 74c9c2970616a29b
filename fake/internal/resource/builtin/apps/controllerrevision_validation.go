package apps

import (
	"bytes"
	"encoding/json"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

func validateControllerRevision(r *appsv1.ControllerRevision) field.ErrorList {
	errs := validateRevisionNumber(r)
	var root *validate.Path
	p := root.Child("data")
	if r.Data.Raw == nil {
		return append(errs, p.Required("data is mandatory"))
	}
	var data any
	if err := json.Unmarshal(r.Data.Raw, &data); err != nil {
		return append(errs, p.Invalid("<value omitted>", "error parsing data: "+err.Error()))
	}
	switch data.(type) {
	case nil:
		errs = append(errs, p.Required("data is mandatory"))
	case map[string]any:
	default:
		errs = append(errs, p.Required("data must be a valid JSON object"))
	}
	return errs
}

func validateControllerRevisionUpdate(r, old *appsv1.ControllerRevision) field.ErrorList {
	errs := validateRevisionNumber(r)
	if !isSameJSON(r.Data.Raw, old.Data.Raw) {
		var root *validate.Path
		errs = append(errs, root.Child("data").Invalid(r.Data, apivalidation.FieldImmutableErrorMsg))
	}
	return errs
}

func validateRevisionNumber(r *appsv1.ControllerRevision) field.ErrorList {
	var root *validate.Path
	return validate.NonNegative(r.Revision, root.Child("revision"))
}

// isSameJSON reports whether two JSON documents have the same value. The stored one may have other
// spaces than that of the request.
func isSameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
