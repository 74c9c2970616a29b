// Package admission is the station on a write's way where others have a say: first
// those who may change the object, then those who may only refuse. What they are
// asked and what they answer is what a webhook is asked and answers, so that
// webhooks and policies can take the same place.
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

// Func decides on one write. It may be called again for the same request, when
// somebody else wrote in between, and for several requests at a time.
type Func func(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

// Plugin is one who has a say.
type Plugin struct {
	// Name is what refusals call it.
	Name string
	// Review decides.
	Review Func
	// Mutates tells that the patch of the answer is applied; it is asked before
	// all who do not.
	Mutates bool
	// SideEffects tells that Review does more than answer, so that a dry run cannot
	// ask it (DR-07).
	SideEffects bool
}

// Chain is all plugins in the order in which they are asked.
type Chain []Plugin

// Attributes is the write that a chain is asked about.
type Attributes struct {
	Operation admissionv1.Operation
	// UID tells one asking from another.
	UID types.UID
	// User is whose request it is.
	User     authenticationv1.UserInfo
	Resource *resource.Resource
	// Parent is the row that the path names: Resource, unless what is sent is of a
	// kind of its own, as a Scale is. A delete has none.
	Parent      *resource.Resource
	Subresource string
	Namespace   string
	Name        string
	// Options are those of the request: CreateOptions, UpdateOptions or DeleteOptions.
	Options runtime.Object
	DryRun  bool
	// Object is what shall be stored and Old what is stored, both of the StoreVersion;
	// nil where there is none.
	Object, OldObject runtime.Object
}

// Mutate asks the plugins that mutate, one after the other, and gives the object as
// they leave it, and their warnings. The Object of the change is not to be used any more.
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

// Validate asks the plugins that do not mutate, and gives their warnings. The first
// refusal is the error.
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

// warningErrors are the warnings of an answer.
func warningErrors(response *admissionv1.AdmissionResponse) (warnings []error) {
	if response == nil {
		return nil
	}
	for _, text := range response.Warnings {
		warnings = append(warnings, errors.New(text))
	}
	return warnings
}

// review gives the answer of a plugin, also where it refuses, which is an error.
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

// callReview calls the function, which may be broken.
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

// reviewRequest is what a plugin is asked.
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

// encode gives an object in the version of the request.
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

// applyPatch gives the object as an answer wants it.
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

// patchObject applies a JSON patch to the object, in the version of the request.
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
