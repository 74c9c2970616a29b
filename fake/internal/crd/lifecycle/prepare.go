package lifecycle

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

// PrepareForCreate sets generation 1 and a status with the storage version only.
func PrepareForCreate(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	crd.Generation = 1
	addStoredVersion(crd)
}

// PrepareForUpdate restores the status of old, adds the storage version to storedVersions, and
// increments the generation if the spec differs. If the spec is equal, it does not set the
// generation.
func PrepareForUpdate(crd, old *apiextensionsv1.CustomResourceDefinition) {
	old.Status.DeepCopyInto(&crd.Status)
	if !apiequality.Semantic.DeepEqual(old.Spec, crd.Spec) {
		crd.Generation = old.Generation + 1
	}
	addStoredVersion(crd)
}

// PrepareStatusForUpdate restores the spec of old. Labels, annotations and finalizers are not
// restored (kubernetes#137681).
func PrepareStatusForUpdate(crd, old *apiextensionsv1.CustomResourceDefinition) {
	old.Spec.DeepCopyInto(&crd.Spec)
}

// addStoredVersion adds the storage version to storedVersions. If there are two, which the
// validation rejects, it adds the first.
func addStoredVersion(crd *apiextensionsv1.CustomResourceDefinition) {
	at := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
	if at < 0 {
		return
	}
	if name := crd.Spec.Versions[at].Name; !slices.Contains(crd.Status.StoredVersions, name) {
		crd.Status.StoredVersions = append(crd.Status.StoredVersions, name)
	}
}
