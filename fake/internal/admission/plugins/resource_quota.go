package plugins

import (
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/quota"
)

var (
	resourceQuotas = corev1.SchemeGroupVersion.WithResource("resourcequotas")
	resourceClaims = resourcev1.SchemeGroupVersion.WithResource("resourceclaims")
	deviceClasses  = resourcev1.SchemeGroupVersion.WithResource("deviceclasses")
)

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

// Charge depends on the quotas and on the objects that they count.
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
	counted := &countedObjects{objects: p.objects, res: res, reads: []string{p.objects.Prefix(resourceQuotas, attrs.Namespace)}}
	applies, err := write.Check(quotas, counted)
	switch {
	case err != nil:
		return nil, forbidden(attrs, err)
	case !applies:
		return nil, nil
	}
	return counted.reads, nil
}

// countedObjects are the stored objects that quotas count together with those of a write.
type countedObjects struct {
	objects Objects
	res     schema.GroupVersionResource // of the write
	reads   []string                    // prefixes of the keys that were read
}

// Has returns true: an object of the resource is being written.
func (o *countedObjects) Has(schema.GroupResource) bool { return true }

// resource returns the resource of a group and plural, and adds the prefix of its keys to reads.
func (o *countedObjects) resource(gr schema.GroupResource, namespace string) schema.GroupVersionResource {
	res := o.res
	switch gr {
	case pods.GroupResource():
		res = pods
	case resourceClaims.GroupResource():
		res = resourceClaims
	}
	o.reads = append(o.reads, o.objects.Prefix(res, namespace))
	return res
}

// List returns the objects in a namespace.
func (o *countedObjects) List(gr schema.GroupResource, namespace string) ([]runtime.Object, error) {
	return o.objects.List(o.resource(gr, namespace), namespace)
}

// Count returns the number of objects in a namespace.
func (o *countedObjects) Count(gr schema.GroupResource, namespace string) int {
	return o.objects.Count(o.resource(gr, namespace), namespace)
}

// DeviceClasses returns the extended resources of the DeviceClasses by their names.
func (o *countedObjects) DeviceClasses() map[string]string {
	o.reads = append(o.reads, o.objects.Prefix(deviceClasses, ""))
	classes, err := o.objects.List(deviceClasses, "")
	if err != nil {
		return nil
	}
	return quota.ClassesByName(classes)
}
