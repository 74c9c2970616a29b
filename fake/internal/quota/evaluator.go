package quota

import (
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// evaluator measures what the objects of a resource use.
type evaluator struct {
	// handles reports whether a write can increase the usage.
	handles func(w *Write) bool
	// matches reports whether a name of spec.hard is about the resource.
	matches func(name corev1.ResourceName) bool
	// counted are the names of the usage that are 1 for every object.
	counted []corev1.ResourceName
	// usage returns what an object uses.
	usage func(obj runtime.Object, now time.Time) corev1.ResourceList
	// inScope reports whether an object is in a scope; nil means in none.
	inScope func(scope corev1.ScopedResourceSelectorRequirement, obj runtime.Object) bool
	// missing returns which of the names an object must specify and does not, as a text; nil if
	// nothing is required.
	missing func(names []corev1.ResourceName, obj runtime.Object) string
}

// evaluatorFor returns the evaluator of a resource: one that counts objects for most of them.
// stored is nil if nothing is measured.
func evaluatorFor(gr schema.GroupResource, stored Lister) *evaluator {
	switch gr {
	case schema.GroupResource{Resource: "pods"}:
		return podEvaluator()
	case schema.GroupResource{Resource: "services"}:
		return serviceEvaluator()
	case schema.GroupResource{Resource: "persistentvolumeclaims"}:
		return claimEvaluator()
	case resourceClaims:
		return resourceClaimEvaluator(stored)
	}
	return objectEvaluator(gr)
}

// countName returns the name that counts the objects of any resource.
func countName(gr schema.GroupResource) corev1.ResourceName {
	name := "count/" + gr.Resource
	if gr.Group != "" {
		name += "." + gr.Group
	}
	return corev1.ResourceName(name)
}

// countedByName are the resources of the core group whose plural is a name as well.
var countedByName = []string{"configmaps", "replicationcontrollers", "resourcequotas", "secrets"}

// objectEvaluator counts objects.
func objectEvaluator(gr schema.GroupResource) *evaluator {
	counted := []corev1.ResourceName{countName(gr)}
	if gr.Group == "" && slices.Contains(countedByName, gr.Resource) {
		counted = append(counted, corev1.ResourceName(gr.Resource))
	}
	return &evaluator{
		handles: func(w *Write) bool { return w.Operation == admissionv1.Create && w.Subresource == "" },
		matches: func(name corev1.ResourceName) bool { return slices.Contains(counted, name) },
		counted: counted,
		usage:   func(runtime.Object, time.Time) corev1.ResourceList { return times(1, counted) },
	}
}

// isIgnored reports whether objects of a resource are never counted.
func isIgnored(gr schema.GroupResource) bool {
	return gr.Resource == "events" && (gr.Group == "" || gr.Group == "events.k8s.io")
}

// Resource returns the resource that a name of spec.hard is about, and whether the name is valid.
// That of an extended resource is about pods, and may be about ResourceClaims, too.
func Resource(name corev1.ResourceName) (gr schema.GroupResource, ok bool) {
	if counted, ok := strings.CutPrefix(string(name), "count/"); ok {
		return schema.ParseGroupResource(counted), true
	}
	for _, gr := range []schema.GroupResource{
		{Resource: "pods"}, {Resource: "services"}, {Resource: "persistentvolumeclaims"}, resourceClaims,
	} {
		if evaluatorFor(gr, nil).matches(name) {
			return gr, true
		}
	}
	return schema.GroupResource{Resource: string(name)}, slices.Contains(countedByName, string(name))
}
