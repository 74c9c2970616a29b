package plugins

import (
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/quota"
)

var resourceQuotas = corev1.SchemeGroupVersion.WithResource("resourcequotas")

// resourceQuota refuses writes that exceed a ResourceQuota. What is used follows from the stored
// objects. The limits are those of the spec, which a controller copies to the status.
type resourceQuota struct {
	objects Objects
	now     func() time.Time
}

func newResourceQuota(d Dependencies) admission.Interface { return &resourceQuota{d.Objects, d.Now} }

func (p *resourceQuota) Name() string { return "ResourceQuota" }

// Handles reports whether a write may add to what a namespace uses.
func (p *resourceQuota) Handles(attrs *admission.Attributes) bool {
	return (attrs.Operation == admissionv1.Create || attrs.Operation == admissionv1.Update) && attrs.RequestResource().Namespaced
}

// Charge depends on the quotas and on the objects of the same resource.
func (p *resourceQuota) Charge(attrs *admission.Attributes) (reads []string, err error) {
	objects, err := p.objects.List(resourceQuotas, attrs.Namespace)
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	quotas := make([]*corev1.ResourceQuota, len(objects))
	for i, obj := range objects {
		quotas[i] = obj.(*corev1.ResourceQuota)
	}
	res := attrs.RequestResource().GroupVersionResource()
	write := quota.Write{
		Operation: attrs.Operation, GroupResource: res.GroupResource(), Subresource: attrs.Subresource,
		Namespace: attrs.Namespace, Object: attrs.Object, Old: attrs.OldObject, Now: p.now(),
	}
	if !write.IsCounted() {
		return nil, nil
	}
	applies, err := write.Check(quotas, countedObjects{p.objects, res})
	switch {
	case err != nil:
		return nil, forbidden(attrs, err)
	case !applies:
		return nil, nil
	}
	return []string{p.objects.Prefix(resourceQuotas, attrs.Namespace), p.objects.Prefix(res, attrs.Namespace)}, nil
}

// countedObjects are the stored objects of the resource of a write.
type countedObjects struct {
	objects Objects
	res     schema.GroupVersionResource
}

// Has returns true: an object of the resource is being written.
func (o countedObjects) Has(schema.GroupResource) bool { return true }

// List returns the objects in a namespace.
func (o countedObjects) List(_ schema.GroupResource, namespace string) ([]runtime.Object, error) {
	return o.objects.List(o.res, namespace)
}

// Count returns the number of objects in a namespace.
func (o countedObjects) Count(_ schema.GroupResource, namespace string) int {
	return o.objects.Count(o.res, namespace)
}
