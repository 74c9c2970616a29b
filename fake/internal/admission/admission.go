// Package admission runs mutating and then validating admission plugins on writes. Their requests
// and responses are those of admission webhooks.
package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/patch"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
)

// Func reviews a write. It may be called for several requests at a time, and again for the same
// request after a concurrent write.
type Func func(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

// Plugin is an admission plugin.
type Plugin struct {
	// Name identifies the plugin in refusals.
	Name string
	// Review reviews a write.
	Review Func
	// Mutates is true if patches are applied. Mutating plugins are called before the others.
	Mutates bool
	// SideEffects is true if Review does more than respond, so that a dry run must not call it
	// (DR-07).
	SideEffects bool
}

// Chain has the plugins in the order of their calls.
type Chain []Plugin

// Attributes describes a write.
type Attributes struct {
	Operation admissionv1.Operation
	// UID identifies the review.
	UID types.UID
	// User is the user of the request.
	User     authenticationv1.UserInfo
	Resource *resource.Resource
	// Parent is the resource of the path. It differs from Resource if the body has another kind,
	// such as Scale. A delete has none.
	Parent      *resource.Resource
	Subresource string
	Namespace   string
	Name        string
	// Options is the CreateOptions, UpdateOptions or DeleteOptions of the request.
	Options runtime.Object
	DryRun  bool
	// Object is the new object and OldObject the stored one, both in the storage version; nil if
	// there is none.
	Object, OldObject runtime.Object
}

// Mutate calls the mutating plugins one after the other and returns the resulting object and their
// warnings. attrs.Object must not be used afterwards.
func (c Chain) Mutate(ctx context.Context, attrs Attributes) (runtime.Object, []error, error) {
	var warnings []error
	for i := range c {
		p := &c[i]
		if !p.Mutates {
			continue
		}
		response, err := p.review(ctx, &attrs)
		warnings = append(warnings, warningErrors(response)...)
		if err != nil {
			return nil, warnings, err
		}
		if attrs.Object, err = p.applyPatch(&attrs, response); err != nil {
			return nil, warnings, err
		}
	}
	return attrs.Object, warnings, nil
}

// Validate calls the validating plugins and returns their warnings. The first refusal is the error.
func (c Chain) Validate(ctx context.Context, attrs Attributes) ([]error, error) {
	var warnings []error
	for i := range c {
		p := &c[i]
		if p.Mutates {
			continue
		}
		response, err := p.review(ctx, &attrs)
		warnings = append(warnings, warningErrors(response)...)
		if err != nil {
			return warnings, err
		}
	}
	return warnings, nil
}

// warningErrors returns the warnings of a response as errors.
func warningErrors(response *admissionv1.AdmissionResponse) (warnings []error) {
	if response == nil {
		return nil
	}
	for _, text := range response.Warnings {
		warnings = append(warnings, errors.New(text))
	}
	return warnings
}

// review calls a plugin. A refusal is returned as an error, with the response.
func (p *Plugin) review(ctx context.Context, attrs *Attributes) (*admissionv1.AdmissionResponse, error) {
	if attrs.DryRun && p.SideEffects {
		return nil, status.DryRunUnsupported(p.Name)
	}
	request, err := attrs.reviewRequest()
	if err != nil {
		return nil, err
	}
	response, err := p.callReview(ctx, request)
	switch {
	case err != nil:
		return nil, status.AdmissionFailed(p.Name, err)
	case !response.Allowed:
		return response, status.AdmissionDenied(p.Name, response.Result)
	}
	return response, nil
}

// callReview calls the function and recovers from its panics.
func (p *Plugin) callReview(ctx context.Context, request *admissionv1.AdmissionRequest) (response *admissionv1.AdmissionResponse, err error) {
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

// reviewRequest returns the request to a plugin.
func (c *Attributes) reviewRequest() (*admissionv1.AdmissionRequest, error) {
	kind, gvr := c.Resource.GroupVersionKind(), c.Resource.GroupVersionResource()
	if c.Parent != nil {
		gvr = c.Parent.GroupVersionResource()
	}
	request := &admissionv1.AdmissionRequest{
		UID:                c.UID,
		Kind:               metav1.GroupVersionKind{Group: kind.Group, Version: kind.Version, Kind: kind.Kind},
		Resource:           metav1.GroupVersionResource{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource},
		SubResource:        c.Subresource,
		RequestSubResource: c.Subresource,
		Name:               c.Name,
		Namespace:          c.Namespace,
		Operation:          c.Operation,
		UserInfo:           *c.User.DeepCopy(),
		DryRun:             &c.DryRun,
	}
	request.RequestKind, request.RequestResource = &request.Kind, &request.Resource
	var err error
	if request.Object.Raw, err = c.encode(c.Object); err != nil {
		return nil, err
	}
	if request.OldObject.Raw, err = c.encode(c.OldObject); err != nil {
		return nil, err
	}
	request.Options.Raw, err = json.Marshal(c.Options)
	return request, err
}

// encode encodes an object in the version of the request.
func (c *Attributes) encode(stored runtime.Object) ([]byte, error) {
	if stored == nil {
		return nil, nil
	}
	served, err := c.Resource.Convert(stored, c.Resource.GroupVersion())
	if err != nil {
		return nil, err
	}
	served.GetObjectKind().SetGroupVersionKind(c.Resource.GroupVersionKind())
	return json.Marshal(served)
}

// applyPatch returns the object with the patch of a response.
func (p *Plugin) applyPatch(attrs *Attributes, response *admissionv1.AdmissionResponse) (runtime.Object, error) {
	if len(response.Patch) == 0 || attrs.Object == nil {
		return attrs.Object, nil
	}
	if t := response.PatchType; t == nil || *t != admissionv1.PatchTypeJSONPatch {
		return nil, status.AdmissionFailed(p.Name, errors.New("the type of its patch is not JSONPatch"))
	}
	obj, err := attrs.patchObject(response.Patch)
	if err != nil {
		return nil, status.AdmissionFailed(p.Name, err)
	}
	return obj, nil
}

// patchObject applies a JSON patch to the object in the version of the request.
func (c *Attributes) patchObject(operations []byte) (runtime.Object, error) {
	if err := patch.CheckJSON(operations); err != nil {
		return nil, err
	}
	p, err := patch.Parse(types.JSONPatchType, operations, false)
	if err != nil {
		return nil, err
	}
	served, err := c.Resource.Convert(c.Object, c.Resource.GroupVersion())
	if err != nil {
		return nil, err
	}
	served.GetObjectKind().SetGroupVersionKind(c.Resource.GroupVersionKind())
	patched, err := p.Apply(served)
	if err != nil {
		return nil, err
	}
	obj, _, err := codec.DecodeBody(c.Resource, negotiate.JSON, patched.JSON, metav1.FieldValidationIgnore)
	if err != nil {
		return nil, err
	}
	stored, err := c.Resource.Convert(obj, c.Resource.StorageVersion)
	if err != nil {
		return nil, err
	}
	return c.Resource.Canonical(stored), nil
}
