package lifecycle

import (
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Serving reports which requests for instances are served.
type Serving struct {
	names                             apiextensionsv1.CustomResourceDefinitionNames
	servesRequests, inDiscovery       bool
	allowsCreate, discoversWriteVerbs bool
}

// ServingOf returns the Serving of a definition in its current state.
func ServingOf(crd *apiextensionsv1.CustomResourceDefinition) Serving {
	established := apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)
	terminating := apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Terminating)
	return Serving{
		names:               *crd.Status.AcceptedNames.DeepCopy(),
		servesRequests:      established || apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.NamesAccepted),
		inDiscovery:         established,
		allowsCreate:        crd.DeletionTimestamp.IsZero() && !terminating,
		discoversWriteVerbs: !terminating,
	}
}

// Names returns the accepted names.
func (s Serving) Names() apiextensionsv1.CustomResourceDefinitionNames { return *s.names.DeepCopy() }

// ServesRequests reports whether requests are served, which begins when the names are accepted.
// Before that they get a 404 (CD-02). In addition, the version has to be served and the scope has
// to match.
func (s Serving) ServesRequests() bool { return s.servesRequests }

// InDiscovery reports whether discovery documents include it, which requires that it is
// established.
func (s Serving) InDiscovery() bool { return s.inDiscovery }

// AllowsCreate reports whether instances can be created. It becomes false when the definition is
// deleted; the response is 403 then (CD-07).
func (s Serving) AllowsCreate() bool { return s.allowsCreate }

// DiscoversWriteVerbs reports whether discovery lists create, update and patch. It is false while
// the condition Terminating is True.
func (s Serving) DiscoversWriteVerbs() bool { return s.discoversWriteVerbs }
