package lifecycle

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

// PrepareForCreate makes a definition ready to be created, in place: generation 1, and
// a status that names the storage version and nothing else.
func PrepareForCreate(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	crd.Generation = 1
	addStoredVersion(crd)
}

// PrepareForUpdate makes a definition ready to replace old, in place: it has the status
// of old, whatever was sent, with the storage version added to storedVersions, and
// the next generation if its spec is another. The generation is otherwise the
// caller's to keep.
func PrepareForUpdate(crd, old *apiextensionsv1.CustomResourceDefinition) {
	old.Status.DeepCopyInto(&crd.Status)
	if !apiequality.Semantic.DeepEqual(old.Spec, crd.Spec) {
		crd.Generation = old.Generation + 1
	}
	addStoredVersion(crd)
}

// PrepareStatusForUpdate makes a definition that was sent to the status subresource ready to
// replace old, in place: it has the spec of old. Its labels, annotations and
// finalizers count (kubernetes#137681).
func PrepareStatusForUpdate(crd, old *apiextensionsv1.CustomResourceDefinition) {
	old.Spec.DeepCopyInto(&crd.Spec)
}

// addStoredVersion adds the storage version to the stored ones. Of two storage
// versions, which validation refuses, the first counts.
func addStoredVersion(crd *apiextensionsv1.CustomResourceDefinition) {
	at := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
	if at < 0 {
		return
	}
	if name := crd.Spec.Versions[at].Name; !slices.Contains(crd.Status.StoredVersions, name) {
		crd.Status.StoredVersions = append(crd.Status.StoredVersions, name)
	}
}
