package codec

import (
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	kjson "sigs.k8s.io/json"

	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
)

// DecodeBody decodes a request body into an object of r's version. validation is the
// fieldValidation parameter of the request; "" means Warn. With Warn, unknown and duplicate fields
// are dropped and returned as warnings; with Strict they are an error (FV-01 to FV-08). Errors are
// Status errors. There may be warnings and an error, of a custom resource in another version.
func DecodeBody(r *resource.Resource, media negotiate.Media, body []byte, validation string) (runtime.Object, []error, error) {
	decoded, sent, err := decode(r, media, body, validation)
	obj, warnings, err := asWarnings(decoded, err, validation)
	switch {
	case err == nil && r.Custom != nil && sent.GroupVersion() != r.GroupVersion(): // the result of a patch is checked by the validation
		return nil, warnings, apierrors.NewBadRequest(versionMismatchError{sent.GroupVersion(), r.GroupVersion()}.Error())
	case err == nil:
		return obj, warnings, nil
	case errors.As(err, new(versionMismatchError)):
		return nil, nil, apierrors.NewBadRequest(err.Error())
	case decoded != nil && r.Custom != nil && sent.GroupVersion().Empty():
		return nil, nil, apierrors.NewBadRequest(runtime.NewMissingVersionErr("object has no apiVersion field").Error())
	case sent != nil && sent.Kind != "": // the kind was read, but the body does not decode as r's kind (CR-02, CR-04, CR-11, FV-05)
		want := r.Kind
		if decoded != nil && r.Custom != nil { // a strict decoding error names the kind of what was decoded
			want = sent.Kind
		}
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v",
			sent.Kind, sent.Version, want, err))
	}
	return nil, nil, apierrors.NewBadRequest(fmt.Sprintf(
		"the object provided is unrecognized (must be of type %s): %v (%s)", r.Kind, err, summary(body)))
}

// DecodePatched decodes the JSON that is the result of a patch. patchErrs are the strict decoding
// errors of the patch itself, which count as those of the object. Errors are not Status errors.
func DecodePatched(r *resource.Resource, body []byte, validation string, patchErrs []error) (runtime.Object, []error, error) {
	obj, _, err := decode(r, negotiate.JSON, body, validation)
	return withPatchWarnings(obj, err, validation, patchErrs)
}

// DecodeMerged is DecodePatched for the fields that result from a strategic merge patch. It ignores
// kind and apiVersion in fields.
func DecodeMerged(r *resource.Resource, fields map[string]any, validation string, patchErrs []error) (runtime.Object, []error, error) {
	obj := r.New()
	strict := validation != metav1.FieldValidationIgnore
	err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(fields, obj, strict)
	obj.GetObjectKind().SetGroupVersionKind(r.GroupVersionKind())
	return withPatchWarnings(obj, err, validation, patchErrs)
}

// withPatchWarnings adds the strict decoding errors of a patch to those of its result.
func withPatchWarnings(obj runtime.Object, err error, validation string, patchErrs []error) (runtime.Object, []error, error) {
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		patchErrs = append(patchErrs[:len(patchErrs):len(patchErrs)], strict.Errors()...)
		err = nil
	}
	if err == nil && len(patchErrs) > 0 {
		err = runtime.NewStrictDecodingError(patchErrs)
	}
	return asWarnings(obj, err, validation)
}

// asWarnings returns strict decoding errors as warnings unless validation is Strict.
func asWarnings(obj runtime.Object, err error, validation string) (runtime.Object, []error, error) {
	strict, ok := runtime.AsStrictDecodingError(err)
	if ok && obj != nil && validation != metav1.FieldValidationStrict {
		return obj, strict.Errors(), nil
	}
	return obj, nil, err
}

// decode returns the object, the kind in the body as far as it could be read, and the error of the
// decoder unchanged, as a real server does. If the error is a StrictDecodingError, the object is
// not nil.
func decode(r *resource.Resource, media negotiate.Media, body []byte, validation string) (runtime.Object, *schema.GroupVersionKind, error) {
	strict := validation != metav1.FieldValidationIgnore
	if r.Custom != nil {
		return decodeCustom(r, media, body, strict)
	}
	if media == negotiate.JSON {
		if obj, ok := tryDecodeJSON(r, body, strict); ok {
			if err := r.ConversionError(obj); err != nil {
				sent := r.GroupVersionKind()
				return nil, &sent, err
			}
			return obj, nil, nil
		}
	}
	want := r.GroupVersionKind()
	obj, sent, err := newSerializer(r.Scheme, media, strict).Decode(body, &want, nil)
	if obj != nil && *sent != want {
		if accepted := r.ConvertAccepted(obj); accepted != nil {
			return accepted, sent, err
		}
		return nil, sent, mismatchError(r, *sent, reflect.TypeOf(obj).Elem())
	}
	if media == negotiate.Protobuf && err == nil && r.CheckDecoded != nil {
		err = r.CheckDecoded(obj)
	}
	if obj != nil {
		if err := r.ConversionError(obj); err != nil { // it precedes strict decoding errors
			return nil, sent, err
		}
	}
	return obj, sent, err
}

// versionMismatchError reports a body of the right kind in the wrong version. Its text is the whole
// message of the Status.
type versionMismatchError struct{ sent, want schema.GroupVersion }

func (e versionMismatchError) Error() string {
	return fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", e.sent, e.want)
}

// mismatchError returns the error for a body of another kind or version than r's. A real server has
// one internal type for all versions of a kind. It converts the body to that type first, and checks
// the version then.
func mismatchError(r *resource.Resource, sent schema.GroupVersionKind, is reflect.Type) error {
	if sent.Kind == r.Kind {
		return versionMismatchError{sent.GroupVersion(), r.GroupVersion()}
	}
	return fmt.Errorf("converting (%v) to (%s): unknown conversion", is, r.TypeName())
}

// tryDecodeJSON decodes a common JSON body in one pass: of the right kind or without kind, and
// without unknown or duplicate fields. It reports false for any other body.
func tryDecodeJSON(r *resource.Resource, body []byte, strict bool) (runtime.Object, bool) {
	if len(body) == 0 || body[0] != '{' {
		return nil, false
	}
	obj := r.New()
	if r.JSON(obj).Decode(body, obj) {
		return withKind(r, obj)
	}
	obj = r.New()
	if strict {
		if duplicates, err := kjson.UnmarshalStrict(body, obj); err != nil || len(duplicates) > 0 {
			return nil, false
		}
	} else if err := kjson.UnmarshalCaseSensitivePreserveInts(body, obj); err != nil {
		return nil, false
	}
	return withKind(r, obj)
}

// withKind sets the kind of a decoded object that has none. It reports false for one of another
// kind.
func withKind(r *resource.Resource, obj runtime.Object) (runtime.Object, bool) {
	sent, want := obj.GetObjectKind().GroupVersionKind(), r.GroupVersionKind()
	if sent == want {
		return obj, true
	}
	if sent.Kind == "" && sent.Version == "" && sent.Group == "" {
		obj.GetObjectKind().SetGroupVersionKind(want)
		return obj, true
	}
	return nil, false
}

func newSerializer(types *runtime.Scheme, media negotiate.Media, strict bool) runtime.Serializer {
	switch media {
	case negotiate.Protobuf:
		return protobuf.NewSerializer(types, types)
	case negotiate.CBOR:
		return cbor.NewSerializer(types, types, cbor.Strict(strict))
	}
	return json.NewSerializerWithOptions(json.DefaultMetaFactory, types, types,
		json.SerializerOptions{Yaml: media == negotiate.YAML, Strict: strict})
}

// summary returns the beginning of a body for an error message, as it is if it looks like JSON, in
// hexadecimal if not.
func summary(body []byte) string {
	const limit = 30
	show := func(b []byte) string { return hex.EncodeToString(b) }
	if len(body) == 0 {
		return "<empty>"
	}
	if body[0] == '{' {
		show = func(b []byte) string { return string(b) }
	}
	if len(body) > limit {
		return show(body[:limit]) + " ..."
	}
	return show(body)
}
