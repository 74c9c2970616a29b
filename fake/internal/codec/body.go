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

// DecodeBody decodes what a client sent for resource r, in r's version. validation is
// the fieldValidation parameter, "" meaning Warn: unknown and duplicate fields
// are dropped and returned as warnings, or refused with Strict (FV-01 to
// FV-08). Errors are Status errors.
func DecodeBody(r *resource.Resource, media negotiate.Media, body []byte, validation string) (runtime.Object, []error, error) {
	decoded, sent, err := decode(r, media, body, validation)
	obj, warnings, err := asWarnings(decoded, err, validation)
	switch {
	case err == nil && r.Custom != nil && sent.GroupVersion() != r.GroupVersion(): // of a patch's result, the validation tells
		return nil, nil, apierrors.NewBadRequest(versionMismatchError{sent.GroupVersion(), r.GroupVersion()}.Error())
	case err == nil:
		return obj, warnings, nil
	case errors.As(err, new(versionMismatchError)):
		return nil, nil, apierrors.NewBadRequest(err.Error())
	case sent != nil && sent.Kind != "": // the kind could be read, but not as r's (CR-02, CR-04, CR-11, FV-05)
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v",
			sent.Kind, sent.Version, r.Kind, err))
	}
	return nil, nil, apierrors.NewBadRequest(fmt.Sprintf(
		"the object provided is unrecognized (must be of type %s): %v (%s)", r.Kind, err, summary(body)))
}

// DecodePatched decodes the JSON that a patch has made of an object. The warnings of
// the patch itself count as those of the object. Errors are plain: a patch has
// its own way to report them.
func DecodePatched(r *resource.Resource, body []byte, validation string, patchErrs []error) (runtime.Object, []error, error) {
	obj, _, err := decode(r, negotiate.JSON, body, validation)
	return withPatchWarnings(obj, err, validation, patchErrs)
}

// DecodeMerged is Patched for the fields that a strategic merge patch leaves. What they
// say of kind and apiVersion does not count.
func DecodeMerged(r *resource.Resource, fields map[string]any, validation string, patchErrs []error) (runtime.Object, []error, error) {
	obj := r.New()
	strict := validation != metav1.FieldValidationIgnore
	err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(fields, obj, strict)
	obj.GetObjectKind().SetGroupVersionKind(r.GroupVersionKind())
	return withPatchWarnings(obj, err, validation, patchErrs)
}

// withPatchWarnings adds what was found wrong with a patch to what was found with its result.
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

// asWarnings turns what strict decoding found into warnings unless the client
// wants it refused.
func asWarnings(obj runtime.Object, err error, validation string) (runtime.Object, []error, error) {
	strict, ok := runtime.AsStrictDecodingError(err)
	if ok && obj != nil && validation != metav1.FieldValidationStrict {
		return obj, strict.Errors(), nil
	}
	return obj, nil, err
}

// decode gives the object, the kind that was sent as far as it could be read,
// and the error as the library words it, which a real server passes on. With a
// StrictDecodingError there is an object.
func decode(r *resource.Resource, media negotiate.Media, body []byte, validation string) (runtime.Object, *schema.GroupVersionKind, error) {
	strict := validation != metav1.FieldValidationIgnore
	if r.Custom != nil {
		return decodeCustom(r, media, body, strict)
	}
	if media == negotiate.JSON {
		if obj, ok := tryDecodeJSON(r, body, strict); ok {
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
	return obj, sent, err
}

// versionMismatchError says that the kind is right and the version is not. It is the whole
// message.
type versionMismatchError struct{ sent, want schema.GroupVersion }

func (e versionMismatchError) Error() string {
	return fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", e.sent, e.want)
}

// mismatchError is why an object of another kind or version than r's is refused. A real server
// has one internal type for all versions of a kind: it can convert them, and looks at the
// version then.
func mismatchError(r *resource.Resource, sent schema.GroupVersionKind, is reflect.Type) error {
	if sent.Kind == r.Kind {
		return versionMismatchError{sent.GroupVersion(), r.GroupVersion()}
	}
	return fmt.Errorf("converting (%v) to (%v): unknown conversion", is, reflect.TypeOf(r.New()).Elem())
}

// tryDecodeJSON decodes the usual body in one pass: right kind or none, nothing
// unknown, nothing twice. False means that it is not plainly so.
func tryDecodeJSON(r *resource.Resource, body []byte, strict bool) (runtime.Object, bool) {
	if len(body) == 0 || body[0] != '{' {
		return nil, false
	}
	obj := r.New()
	if strict {
		if duplicates, err := kjson.UnmarshalStrict(body, obj); err != nil || len(duplicates) > 0 {
			return nil, false
		}
	} else if err := kjson.UnmarshalCaseSensitivePreserveInts(body, obj); err != nil {
		return nil, false
	}
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

// summary shows the beginning of a body in an error message: as it stands when
// it looks like JSON, in hexadecimal when not.
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
