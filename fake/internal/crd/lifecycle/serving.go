package lifecycle

import (
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ServesRequests reports whether requests for instances are served, which begins when the names are
// accepted. Before that they get a 404 (CD-02). In addition, the version has to be served and the
// scope has to match.
func ServesRequests(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return isEstablished(crd) || apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.NamesAccepted)
}

// AllowsCreate reports whether instances can be created. It becomes false when the definition is
// deleted; the response is 403 then (CD-07).
func AllowsCreate(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return crd.DeletionTimestamp.IsZero() && DiscoversWriteVerbs(crd)
}

// DiscoversWriteVerbs reports whether discovery lists create, update and patch. It is false while
// the condition Terminating is True.
func DiscoversWriteVerbs(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Terminating)
}

func isEstablished(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)
}
