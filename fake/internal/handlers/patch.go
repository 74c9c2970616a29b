package handlers

import (
	"maps"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/patch"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
)

// patch changes an object by a patch, whose type is the Content-Type (PA rules). It is applied
// again if the object is changed by another request at the same time (OC-08).
func (a *API) patch(q *request) error { return a.updateObject(q, (*request).parsePatch) }

// parsePatch parses the options and the body of a PATCH.
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
	if err := status.InvalidOptions("PatchOptions", metavalidation.ValidatePatchOptions(&opts, kind)); err != nil {
		return nil, err
	}
	switch kind {
	case types.ApplyCBORPatchType:
		return q.parseApplyCBOR(body, &opts)
	case types.ApplyYAMLPatchType:
		return q.parseApply(body, &opts)
	}
	if err := patch.CheckJSON(body); err != nil {
		return nil, err
	}
	if err := q.auditPatch(func() ([]byte, error) { return body, nil }); err != nil {
		return nil, err
	}
	p, parseErr := patch.Parse(kind, body, opts.FieldValidation != metav1.FieldValidationIgnore)
	manager, err := q.fieldManager()
	if err != nil {
		return nil, err
	}
	return &updatedObjectInfo{ // it does not create (PA-15)
		options:      writeOptions{opts.DryRun, opts.FieldManager, opts.FieldValidation},
		fieldManager: manager,
		updatedObject: func(old runtime.Object) (runtime.Object, error) {
			if parseErr != nil { // a missing object is reported first
				return nil, parseErr
			}
			return q.applyPatch(p, old, opts.FieldValidation)
		},
	}, nil
}

// patchType returns the patch type of the Content-Type.
func patchType(r *http.Request) types.PatchType {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return types.PatchType(kind)
}

// checkPatchType returns a 415 if the resource does not support the patch type. For built-in
// resources a real server's router returns it (PA-02).
func (q *request) checkPatchType() error {
	isSupported := false
	switch patchType(q.r) {
	case types.StrategicMergePatchType:
		isSupported = q.parent.Custom == nil // it needs the tags of a Go type
	case types.JSONPatchType, types.MergePatchType, types.ApplyYAMLPatchType:
		isSupported = true
	case types.ApplyCBORPatchType:
		isSupported = negotiate.IsCBOREnabled(q.r)
	}
	switch {
	case isSupported:
		return nil
	case q.parent.Custom == nil:
		return status.RouterUnsupportedMediaType()
	}
	supported := []string{string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyYAMLPatchType)}
	if negotiate.IsCBOREnabled(q.r) {
		supported = append(supported, string(types.ApplyCBORPatchType))
	}
	return status.UnsupportedMediaType(strings.Join(supported, ", "))
}

// applyPatch applies a patch to old, an object of the storage version. The patch applies to the
// served version.
func (q *request) applyPatch(p *patch.Patch, old runtime.Object, validation string) (runtime.Object, error) {
	obj, err := q.patchedObject(p, old, validation)
	if err != nil {
		return nil, err
	}
	if err := q.checkMatchesPath(resource.Accessor(obj)); err != nil {
		return nil, err
	}
	return q.toStorageVersion(obj)
}

// patchedObject returns the result of a patch, in the served version.
func (q *request) patchedObject(p *patch.Patch, old runtime.Object, validation string) (obj runtime.Object, err error) {
	if obj, ok := q.tryPatchTyped(p, old); ok {
		return obj, nil
	}
	current, err := q.res.Convert(old, q.res.GroupVersion())
	if err != nil {
		return nil, err
	}
	if obj, ok := q.tryPatchCustom(p, current); ok {
		return obj, nil
	}
	result, err := p.Apply(current)
	if err != nil {
		return nil, err
	}
	if err := q.checkContext(); err != nil {
		return nil, err
	}
	var warnings []error
	if result.Fields != nil {
		obj, warnings, err = codec.DecodeMerged(q.res, result.Fields, validation, p.Warnings)
	} else {
		obj, warnings, err = codec.DecodePatched(q.res, result.JSON, validation, p.Warnings)
	}
	if err != nil {
		return nil, status.InvalidPatchResult(p.ErrorValue(result), err)
	}
	q.addWarnings(warnings...)
	return obj, q.res.ConversionError(obj)
}

// tryPatchCustom applies a patch to a custom resource without encoding it. The result has its own
// metadata, and shares other values with current. It reports false if that is not supported.
func (q *request) tryPatchCustom(p *patch.Patch, current runtime.Object) (runtime.Object, bool) {
	u, ok := current.(*unstructured.Unstructured)
	if !ok {
		return nil, false
	}
	patched, ok := p.ApplyUntyped(u.Object)
	if !ok {
		return nil, false
	}
	if metadata, ok := patched["metadata"].(map[string]any); ok {
		patched["metadata"] = maps.Clone(metadata)
	}
	return codec.TryPatched(q.res, patched)
}

// tryPatchTyped applies a patch to a copy of old, an object of a built-in type, without encoding
// it. It reports false if that is not supported, or the result has an error.
func (q *request) tryPatchTyped(p *patch.Patch, old runtime.Object) (runtime.Object, bool) {
	if q.res.Custom != nil || q.res != q.parent || q.res.GroupVersion() != q.res.StorageVersion {
		return nil, false
	}
	obj, ok := p.ApplyTyped(q.res.JSON(old), old)
	return obj, ok && obj.GetObjectKind().GroupVersionKind() == q.res.GroupVersionKind() && q.res.ConversionError(obj) == nil
}
