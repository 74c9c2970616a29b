// Package patch applies JSON patches (RFC 6902), JSON merge patches (RFC 7386) and strategic merge
// patches to objects. It returns the errors of kube-apiserver.
//
// Server-side apply patches are merged by package managedfields.
package patch

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	kjson "sigs.k8s.io/json"

	"example.com/fakeapi/fake/internal/jsonvalue"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/fake/internal/typedjson"
)

// Patch is a parsed patch. It can be applied any number of times.
type Patch struct {
	kind types.PatchType
	body []byte
	// operations are the operations of a JSON patch, object is the body of the other kinds.
	operations jsonpatch.Patch
	object     map[string]any
	// Warnings has the unknown and duplicate fields of the patch itself, if it was parsed with
	// strict.
	Warnings []error
}

// jsonPatchOp is one operation of a JSON patch. It is used for strict decoding only.
type jsonPatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

// CheckJSON returns a BadRequest error if body is not JSON (PA-10).
func CheckJSON(body []byte) error {
	if !json.Valid(body) {
		return apierrors.NewBadRequest("invalid JSON patch")
	}
	return nil
}

// Parse parses a patch. With strict, unknown and duplicate fields of the patch are added to
// Warnings. Errors are Status errors.
func Parse(kind types.PatchType, body []byte, strict bool) (*Patch, error) {
	p := &Patch{kind: kind, body: body}
	err := checkLimits(kind, body)
	switch {
	case err != nil:
	case kind == types.JSONPatchType:
		err = p.parseOperations(strict)
	case strict:
		if p.object, p.Warnings, err = jsonvalue.DecodeStrict(body); err != nil && kind == types.MergePatchType {
			err = fmt.Errorf("error decoding patch: %w", err)
		}
	case kind == types.StrategicMergePatchType:
		p.object, err = jsonvalue.Decode(body)
	}
	if _, isStatus := err.(apierrors.APIStatus); err == nil || isStatus {
		return p, err
	}
	return nil, apierrors.NewBadRequest(err.Error())
}

func (p *Patch) parseOperations(strict bool) (err error) {
	if strict {
		var ops []jsonPatchOp
		if p.Warnings, err = kjson.UnmarshalStrict(p.body, &ops); err != nil {
			// The message has the name of the type in kube-apiserver's package (PA-09).
			text := strings.ReplaceAll(err.Error(), reflect.TypeFor[jsonPatchOp]().String(), "handlers.jsonPatchOp")
			return errors.New("error decoding patch: " + text)
		}
		for i, w := range p.Warnings {
			p.Warnings[i] = fmt.Errorf("json patch %w", w)
		}
	}
	if p.operations, err = jsonpatch.DecodePatch(p.body); err != nil {
		return err
	}
	if n := len(p.operations); n > maxOperations {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, n))
	}
	return nil
}

// Result is a patched object that is not decoded yet.
type Result struct {
	// JSON is the result of a JSON patch or merge patch.
	JSON []byte
	// Fields is the result of a strategic merge patch.
	Fields map[string]any
	// applied is a strategic merge patch after the merge, which removes $retainKeys from it.
	applied map[string]any
}

// Apply applies the patch to obj and returns the result. It does not change obj. Errors are Status
// errors.
func (p *Patch) Apply(obj runtime.Object) (Result, error) {
	if p.kind == types.StrategicMergePatchType {
		return p.applyStrategic(obj)
	}
	current, err := encode(obj)
	if err != nil {
		return Result{}, err
	}
	if p.kind == types.JSONPatchType {
		result, err := p.applyOperations(current)
		if apierrors.IsRequestEntityTooLargeError(err) {
			return Result{}, err
		}
		if err != nil {
			return Result{}, status.Unprocessable(err) // PA-08
		}
		return Result{JSON: result}, nil
	}
	result, err := jsonpatch.MergePatch(current, p.body)
	if errors.Is(err, jsonpatch.ErrBadJSONPatch) {
		return Result{}, apierrors.NewBadRequest(err.Error())
	}
	return Result{JSON: result}, err
}

// encode returns the JSON of an object.
func encode(obj runtime.Object) ([]byte, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return jsonvalue.Append(nil, u.Object)
	}
	return json.Marshal(obj)
}

// ApplyTyped applies the patch to a copy of obj, which is of a type and as it was decoded, without
// encoding it. It reports false if this is not supported, also if the patch has warnings or is not
// valid.
func (p *Patch) ApplyTyped(t *typedjson.Type, obj runtime.Object) (runtime.Object, bool) {
	if len(p.Warnings) > 0 {
		return nil, false
	}
	obj = obj.DeepCopyObject()
	switch p.kind {
	case types.MergePatchType:
		return obj, t.Merge(p.body, obj)
	case types.StrategicMergePatchType:
		kind := obj.GetObjectKind().GroupVersionKind()
		ok := t.StrategicMerge(p.body, obj)
		obj.GetObjectKind().SetGroupVersionKind(kind) // that of the patch is ignored
		return obj, ok
	}
	operations := make([]typedjson.Operation, len(p.operations))
	for i, op := range p.operations {
		path, err := op.Path()
		if err != nil {
			return nil, false
		}
		operations[i] = typedjson.Operation{Op: op.Kind(), Path: path}
		if value := op["value"]; value != nil {
			operations[i].Value = *value
		}
	}
	return obj, t.ApplyOperations(operations, obj)
}

// applyStrategic applies a strategic merge patch by the patch tags of the object's type (PA-19 to
// PA-21).
func (p *Patch) applyStrategic(obj runtime.Object) (Result, error) {
	current, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return Result{}, err
	}
	if schema, err := strategicpatch.NewPatchMetaFromStruct(obj); err == nil {
		if n := comparisons(current, p.object, schema); n > maxComparisons {
			return Result{}, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
				"The allowed maximum comparisons of list elements in a strategic merge patch is %d, got %d", maxComparisons, n))
		}
	}
	applied := runtime.DeepCopyJSON(p.object) // the merge changes its arguments
	result, err := strategicpatch.StrategicMergeMapPatch(current, applied, obj)
	switch {
	case err == nil:
		return Result{Fields: result, applied: applied}, nil
	case isAny(err, mergepatch.ErrBadJSONDoc, mergepatch.ErrBadPatchFormatForPrimitiveList,
		mergepatch.ErrBadPatchFormatForRetainKeys, mergepatch.ErrBadPatchFormatForSetElementOrderList,
		mergepatch.ErrUnsupportedStrategicMergePatchFormat):
		return Result{}, apierrors.NewBadRequest(err.Error())
	case isAny(err, mergepatch.ErrNoListOfLists, mergepatch.ErrPatchContentNotMatchRetainKeys):
		return Result{}, status.Unprocessable(err)
	}
	return Result{}, err
}

func isAny(err error, targets ...error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// ErrorValue returns the value that an error about a result contains: the patched document, or the
// patch itself if it is a strategic merge patch.
func (p *Patch) ErrorValue(result Result) string {
	if p.kind == types.StrategicMergePatchType {
		return fmt.Sprintf("%+v", result.applied)
	}
	return string(result.JSON)
}
