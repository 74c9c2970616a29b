// Package admission runs admission plugins on writes: first those that mutate the object, and, when
// the server has finished the object, those that validate it. The interfaces are those of
// k8s.io/apiserver/pkg/admission. Package plugins has the plugins of kube-apiserver, package
// webhook those that call webhooks and package policy those that evaluate policies.
package admission

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/fake/internal/resource"
)

// Interface is an admission plugin. It implements MutationInterface, ValidationInterface or both,
// and is safe for concurrent use. A plugin may be called again for the same request after a
// concurrent write.
type Interface interface {
	// Name returns the name of the plugin, as in the flag --enable-admission-plugins of
	// kube-apiserver.
	Name() string
	// Handles reports whether the plugin is called for a write. It reads only the operation, the
	// resource and the subresource.
	Handles(attrs *Attributes) bool
}

// MutationInterface is a plugin that changes objects.
type MutationInterface interface {
	Interface
	// Admit changes attrs.Object, or replaces it. An error refuses the write. Warnings go to the
	// recorder in ctx.
	Admit(ctx context.Context, attrs *Attributes) error
}

// ValidationInterface is a plugin that refuses writes.
type ValidationInterface interface {
	Interface
	// Validate returns the error of a refused write. It must not change the objects. Warnings go to
	// the recorder in ctx.
	Validate(ctx context.Context, attrs *Attributes) error
}

// ChargingInterface is a plugin that refuses writes by what is stored in the namespace, such as a
// quota.
type ChargingInterface interface {
	Interface
	// Charge returns the error of a refused write. It is called after the plugins that validate, in
	// the transaction of the write, and again if an object whose key has one of the prefixes reads
	// is written before the object is stored. It must not change the objects.
	Charge(attrs *Attributes) (reads []string, err error)
}

// Chain has the plugins in the order of their calls.
type Chain []Interface

// Attributes describes a write or a connection.
type Attributes struct {
	Operation admissionv1.Operation
	// User is the user of the request.
	User authenticationv1.UserInfo
	// Resource is the resource of the body. It is that of the path, except for bodies of another
	// kind, such as Scale, where Parent is the resource of the path.
	Resource, Parent *resource.Resource
	Subresource      string
	Namespace        string
	// Name is "" for a new object whose name is generated, and for a deletecollection.
	Name string
	// Options is the CreateOptions, UpdateOptions or DeleteOptions of the request, nil for a
	// connection.
	Options runtime.Object
	DryRun  bool
	// NewUID returns the uid of a review of the write.
	NewUID func() types.UID
	// Object is the new object and OldObject the stored one, both in the storage version; nil if
	// there is none. For a connection Object is its options, which have no metadata.
	Object, OldObject runtime.Object

	// library is the result of Library in the current pass.
	library *LibraryAttributes
}

// RequestResource returns the resource of the path.
func (a *Attributes) RequestResource() *resource.Resource {
	if a.Parent != nil {
		return a.Parent
	}
	return a.Resource
}

// GroupResource returns the group and plural of the path.
func (a *Attributes) GroupResource() schema.GroupResource { return a.RequestResource().GroupResource() }

// Admit calls the mutating plugins one after the other. The first refusal is the error. If a
// webhook or a policy has changed the object, all are called again. Webhooks and policies are
// called again by their reinvocationPolicy.
func (c Chain) Admit(ctx context.Context, attrs *Attributes) error {
	attrs.library = nil
	defer attrs.logAnnotations(ctx)
	if err := c.admitOnce(ctx, attrs); err != nil || attrs.library == nil {
		return err
	}
	reinvocation := attrs.library.GetReinvocationContext()
	if !reinvocation.ShouldReinvoke() {
		return nil
	}
	reinvocation.SetIsReinvoke()
	return c.admitOnce(ctx, attrs)
}

func (c Chain) admitOnce(ctx context.Context, attrs *Attributes) error {
	for _, p := range c {
		if m, ok := p.(MutationInterface); ok && p.Handles(attrs) {
			if err := m.Admit(ctx, attrs); err != nil {
				return err
			}
		}
	}
	return nil
}

// Validate calls the validating plugins. The first refusal is the error.
func (c Chain) Validate(ctx context.Context, attrs *Attributes) error {
	attrs.library = nil
	defer attrs.logAnnotations(ctx)
	for _, p := range c {
		if v, ok := p.(ValidationInterface); ok && p.Handles(attrs) {
			if err := v.Validate(ctx, attrs); err != nil {
				return err
			}
		}
	}
	return nil
}

// Charge calls the plugins that are called in the transaction of the write. The first refusal is
// the error.
func (c Chain) Charge(attrs *Attributes) (reads []string, err error) {
	for _, p := range c {
		if charging, ok := p.(ChargingInterface); ok && p.Handles(attrs) {
			more, err := charging.Charge(attrs)
			if err != nil {
				return nil, err
			}
			reads = append(reads, more...)
		}
	}
	return reads, nil
}
