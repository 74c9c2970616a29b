package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	webhookerrors "k8s.io/apiserver/pkg/admission/plugin/webhook/errors"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/warning"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/patch"
	"example.com/fakeapi/fake/internal/status"
)

// ReviewFunc reviews a write. It may be called for several requests at a time, and again for the
// same request after a concurrent write.
type ReviewFunc func(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

// Reviewer is a function that is called as an admission webhook is. It implements
// MutationInterface and ValidationInterface.
type Reviewer struct {
	// ReviewerName identifies the function in refusals.
	ReviewerName string
	// Review reviews a write.
	Review ReviewFunc
	// Mutates is true if patches are applied. Such a function is called by Admit, the others by
	// Validate.
	Mutates bool
	// SideEffects is true if Review does more than respond, so that a dry run must not call it
	// (DR-07).
	SideEffects bool
}

// Name returns the name of the function.
func (p *Reviewer) Name() string { return p.ReviewerName }

// Handles returns true: every write is reviewed.
func (p *Reviewer) Handles(*Attributes) bool { return true }

// Admit calls a mutating function and applies its patch.
func (p *Reviewer) Admit(ctx context.Context, attrs *Attributes) error {
	if !p.Mutates {
		return nil
	}
	response, err := p.review(ctx, attrs)
	if err != nil {
		return err
	}
	attrs.Object, err = p.applyPatch(attrs, response)
	return err
}

// Validate calls a function that is not mutating.
func (p *Reviewer) Validate(ctx context.Context, attrs *Attributes) error {
	if p.Mutates {
		return nil
	}
	_, err := p.review(ctx, attrs)
	return err
}

// review calls the function. A refusal is returned as an error. The warnings of the response go to
// the recorder in ctx, and its audit annotations to the audit log.
func (p *Reviewer) review(ctx context.Context, attrs *Attributes) (*admissionv1.AdmissionResponse, error) {
	if attrs.DryRun && p.SideEffects {
		return nil, webhookerrors.NewDryRunUnsupportedErr(p.ReviewerName) // DR-07
	}
	request, err := attrs.reviewRequest()
	if err != nil {
		return nil, err
	}
	response, err := p.callReview(ctx, request)
	if err == nil {
		for _, text := range response.Warnings {
			warning.AddWarning(ctx, "", text)
		}
		for key, value := range response.AuditAnnotations {
			audit.AddAuditAnnotation(ctx, p.ReviewerName+"/"+key, value)
		}
	}
	switch {
	case err != nil:
		return nil, status.AdmissionFailed(p.ReviewerName, err)
	case !response.Allowed:
		return response, webhookerrors.ToStatusErr(p.ReviewerName, response.Result.DeepCopy())
	}
	return response, nil
}

// callReview calls Review and recovers from its panics.
func (p *Reviewer) callReview(ctx context.Context, request *admissionv1.AdmissionRequest) (response *admissionv1.AdmissionResponse, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("it panicked: %v", reason)
		}
	}()
	if response = p.Review(ctx, request); response == nil {
		return nil, errors.New("it gave no response")
	}
	return response, nil
}

// reviewRequest returns the request to a function.
func (a *Attributes) reviewRequest() (*admissionv1.AdmissionRequest, error) {
	kind, gvr := a.Resource.GroupVersionKind(), a.RequestResource().GroupVersionResource()
	request := &admissionv1.AdmissionRequest{
		UID:                a.NewUID(),
		Kind:               metav1.GroupVersionKind{Group: kind.Group, Version: kind.Version, Kind: kind.Kind},
		Resource:           metav1.GroupVersionResource{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource},
		SubResource:        a.Subresource,
		RequestSubResource: a.Subresource,
		Name:               a.Name,
		Namespace:          a.Namespace,
		Operation:          a.Operation,
		UserInfo:           *a.User.DeepCopy(),
		DryRun:             new(a.DryRun),
	}
	request.RequestKind, request.RequestResource = &request.Kind, &request.Resource
	var err error
	if request.Object.Raw, err = a.encode(a.Object); err != nil {
		return nil, err
	}
	if request.OldObject.Raw, err = a.encode(a.OldObject); err != nil {
		return nil, err
	}
	if a.Options != nil {
		request.Options.Raw, err = json.Marshal(a.Options)
	}
	return request, err
}

// encode encodes an object in the version of the request.
func (a *Attributes) encode(stored runtime.Object) ([]byte, error) {
	if stored == nil {
		return nil, nil
	}
	served, err := a.Resource.Convert(stored, a.Resource.GroupVersion())
	if err != nil {
		return nil, err
	}
	served.GetObjectKind().SetGroupVersionKind(a.Resource.GroupVersionKind())
	return json.Marshal(served)
}

// applyPatch returns the object with the patch of a response.
func (p *Reviewer) applyPatch(attrs *Attributes, response *admissionv1.AdmissionResponse) (runtime.Object, error) {
	if len(response.Patch) == 0 || attrs.Object == nil {
		return attrs.Object, nil
	}
	if t := response.PatchType; t == nil || *t != admissionv1.PatchTypeJSONPatch {
		return nil, status.AdmissionFailed(p.ReviewerName, errors.New("the type of its patch is not JSONPatch"))
	}
	obj, err := attrs.patchObject(response.Patch)
	if err != nil {
		return nil, status.AdmissionFailed(p.ReviewerName, err)
	}
	return obj, nil
}

// patchObject applies a JSON patch to the object in the version of the request.
func (a *Attributes) patchObject(operations []byte) (runtime.Object, error) {
	if err := patch.CheckJSON(operations); err != nil {
		return nil, err
	}
	p, err := patch.Parse(types.JSONPatchType, operations, false)
	if err != nil {
		return nil, err
	}
	served, err := a.Resource.Convert(a.Object, a.Resource.GroupVersion())
	if err != nil {
		return nil, err
	}
	served.GetObjectKind().SetGroupVersionKind(a.Resource.GroupVersionKind())
	patched, err := p.Apply(served)
	if err != nil {
		return nil, err
	}
	obj, _, err := codec.DecodeBody(a.Resource, negotiate.JSON, patched.JSON, metav1.FieldValidationIgnore)
	if err != nil {
		return nil, err
	}
	stored, err := a.Resource.Convert(obj, a.Resource.StorageVersion)
	if err != nil {
		return nil, err
	}
	return a.Resource.Canonical(stored), nil
}
