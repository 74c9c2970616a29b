// Package patch applies JSON patches (RFC 6902), JSON merge patches (RFC 7386)
// and strategic merge patches to objects, with the refusals of a real server.
// Server-side apply is not a patch in this sense.
package patch

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	kjson "sigs.k8s.io/json"

	"example.com/fakeapi/fake/internal/status"
)

// maxOperations is the most operations that a JSON patch may have (PA-11).
const maxOperations = 10_000

// Patch is a patch that was read once and can be applied any number of times.
type Patch struct {
	kind types.PatchType
	body []byte
	// operations is the JSON patch, object the body of the other kinds.
	operations jsonpatch.Patch
	object     map[string]any
	// Warnings is what strict reading found wrong with the patch itself.
	Warnings []error
}

// jsonPatchOp is one step of a JSON patch, for strict reading only.
type jsonPatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

// Check refuses a body that is no JSON at all, before anything is looked up (PA-10).
func Check(body []byte) error {
	if !json.Valid(body) {
		return apierrors.NewBadRequest("invalid JSON patch")
	}
	return nil
}

// Parse reads a patch. With strict, unknown and duplicate fields of the patch
// are kept in Warnings. Errors are Status errors.
func Parse(kind types.PatchType, body []byte, strict bool) (*Patch, error) {
	p := &Patch{kind: kind, body: body}
	err := affordable(kind, body)
	switch {
	case err != nil:
	case kind == types.JSONPatchType:
		err = p.parseOperations(strict)
	case strict:
		if p.Warnings, err = kjson.UnmarshalStrict(body, &p.object); err != nil && kind == types.MergePatchType {
			err = fmt.Errorf("error decoding patch: %w", err)
		}
	case kind == types.StrategicMergePatchType:
		err = kjson.UnmarshalCaseSensitivePreserveInts(body, &p.object)
	}
	if _, done := err.(apierrors.APIStatus); err == nil || done {
		return p, err
	}
	return nil, apierrors.NewBadRequest(err.Error())
}

func (p *Patch) parseOperations(strict bool) (err error) {
	if strict {
		var steps []jsonPatchOp
		if p.Warnings, err = kjson.UnmarshalStrict(p.body, &steps); err != nil {
			// The real server's type has the same name, in another package (PA-09).
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

// Result is what a patch makes of an object: a document to decode, or with a
// strategic merge patch the fields.
type Result struct {
	JSON   []byte
	Fields map[string]any
	// change is what the merge has left of a strategic patch: without $retainKeys.
	change map[string]any
}

// Apply gives what the patch makes of an object, which keeps its state. Errors
// are Status errors.
func (p *Patch) Apply(obj runtime.Object) (Result, error) {
	if p.kind == types.StrategicMergePatchType {
		return p.strategic(obj)
	}
	current, err := json.Marshal(obj)
	if err != nil {
		return Result{}, err
	}
	if p.kind == types.JSONPatchType {
		result, err := p.operate(current)
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

// strategic merges by the patch tags of the object's type (PA-19 to PA-21).
func (p *Patch) strategic(obj runtime.Object) (Result, error) {
	current, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return Result{}, err
	}
	change := runtime.DeepCopyJSON(p.object) // the merge eats its arguments
	result, err := strategicpatch.StrategicMergeMapPatch(current, change, obj)
	switch {
	case err == nil:
		return Result{Fields: result, change: change}, nil
	case isOne(err, mergepatch.ErrBadJSONDoc, mergepatch.ErrBadPatchFormatForPrimitiveList,
		mergepatch.ErrBadPatchFormatForRetainKeys, mergepatch.ErrBadPatchFormatForSetElementOrderList,
		mergepatch.ErrUnsupportedStrategicMergePatchFormat):
		return Result{}, apierrors.NewBadRequest(err.Error())
	case isOne(err, mergepatch.ErrNoListOfLists, mergepatch.ErrPatchContentNotMatchRetainKeys):
		return Result{}, status.Unprocessable(err)
	}
	return Result{}, err
}

func isOne(err error, targets ...error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// Shown is what an error about the result of the patch shows of it: the whole
// result, or the patch where a real server has no document to show.
func (p *Patch) Shown(result Result) string {
	if p.kind == types.StrategicMergePatchType {
		return fmt.Sprintf("%+v", result.change)
	}
	return string(result.JSON)
}
