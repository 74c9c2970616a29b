package handlers

import (
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/patch"
	"example.com/fakeapi/fake/internal/status"
)

// patch changes an object by a patch of one of the types that the
// Content-Type names (PA rules). It is applied again if somebody else wrote in
// between (OC-08).
func (a *API) patch(q *request) error { return a.runUpdate(q, (*request).parsePatch) }

// parsePatch reads the options and the body of a patch and gives what it does.
func (q *request) parsePatch() (*updatedObjectInfo, error) {
	kind := patchType(q.r)
	body, err := q.readBody()
	if err != nil {
		return nil, err
	}
	var opts metav1.PatchOptions
	if err := q.decodeOptions(&opts); err != nil {
		return nil, err
	}
	if err := invalidOptions("PatchOptions", metavalidation.ValidatePatchOptions(&opts, kind)); err != nil {
		return nil, err
	}
	switch kind {
	case types.ApplyCBORPatchType:
		if body, err = codec.CBORToJSON(body); err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
		}
		return q.parseApply(body, &opts)
	case types.ApplyYAMLPatchType:
		return q.parseApply(body, &opts)
	}
	if err := patch.CheckJSON(body); err != nil {
		return nil, err
	}
	p, parseErr := patch.Parse(kind, body, opts.FieldValidation != metav1.FieldValidationIgnore)
	tracker, err := q.fieldManager()
	if err != nil {
		return nil, err
	}
	return &updatedObjectInfo{ // a patch creates nothing (PA-15)
		options:      writeOptions{opts.DryRun, opts.FieldManager, opts.FieldValidation},
		fieldManager: tracker,
		updatedObject: func(old runtime.Object) (runtime.Object, error) {
			if parseErr != nil { // that there is no such object is said first
				return nil, parseErr
			}
			return q.applyPatch(p, old, opts.FieldValidation)
		},
	}, nil
}

// patchType is what the Content-Type of a request says of its patch.
func patchType(r *http.Request) types.PatchType {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return types.PatchType(kind)
}

// checkPatchType refuses patches of types that there are not.
func (q *request) checkPatchType() error {
	ok := false
	switch patchType(q.r) {
	case types.StrategicMergePatchType:
		ok = q.parent.Custom == nil // CD: there is no Go type whose tags it could go by
	case types.JSONPatchType, types.MergePatchType, types.ApplyYAMLPatchType:
		ok = true
	case types.ApplyCBORPatchType:
		ok = negotiate.IsCBOREnabled(q.r)
	}
	if !ok {
		return q.unsupportedPatchTypeError()
	}
	return nil
}

// unsupportedPatchTypeError refuses a type of patch: where a real server has a router, that does so
// (PA-02).
func (q *request) unsupportedPatchTypeError() error {
	if q.parent.Custom == nil {
		return status.RouterUnsupportedMediaType()
	}
	known := []string{string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyYAMLPatchType)}
	if negotiate.IsCBOREnabled(q.r) {
		known = append(known, string(types.ApplyCBORPatchType))
	}
	return status.UnsupportedMediaType(strings.Join(known, ", "))
}

// applyPatch applies a patch to an object of the StoreVersion in the version that
// the client sees.
func (q *request) applyPatch(p *patch.Patch, old runtime.Object, validation string) (runtime.Object, error) {
	current, err := q.res.Convert(old, q.res.GroupVersion())
	if err != nil {
		return nil, err
	}
	result, err := p.Apply(current)
	if err != nil {
		return nil, err
	}
	var obj runtime.Object
	var warnings []error
	if result.Fields != nil {
		obj, warnings, err = codec.DecodeMerged(q.res, result.Fields, validation, p.Warnings)
	} else {
		obj, warnings, err = codec.DecodePatched(q.res, result.JSON, validation, p.Warnings)
	}
	if err != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
			field.Invalid(field.NewPath("patch"), p.ErrorValue(result), err.Error()),
		})
	}
	q.addWarnings(warnings...)
	if err := q.checkMatchesPath(accessor(obj)); err != nil {
		return nil, err
	}
	if obj, err = q.toStorageVersion(obj); err != nil {
		return nil, err
	}
	q.dedupOwnerReferences(obj, true)
	return obj, nil
}
