package lifecycle

import (
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Serving is what clients see of a definition.
type Serving struct {
	names                             apiextensionsv1.CustomResourceDefinitionNames
	servesRequests, inDiscovery       bool
	allowsCreate, discoversWriteVerbs bool
}

// ServingOf tells what clients see of a definition now.
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

// Names are the accepted names: what it asks for does not count.
func (s Serving) Names() apiextensionsv1.CustomResourceDefinitionNames { return *s.names.DeepCopy() }

// ServesRequests reports whether requests are served. It is so as soon as the names are
// accepted; else the path answers 404 (CD-02). A version must also be served, and
// the scope of the request be the right one.
func (s Serving) ServesRequests() bool { return s.servesRequests }

// InDiscovery reports whether documents of discovery show it: it must be established.
func (s Serving) InDiscovery() bool { return s.inDiscovery }

// AllowsCreate reports whether instances can be created, else it is a 403 (CD-07). That
// ends with the request to delete the definition.
func (s Serving) AllowsCreate() bool { return s.allowsCreate }

// DiscoversWriteVerbs reports whether discovery lists create, update and patch, which it does
// not while Terminating is True.
func (s Serving) DiscoversWriteVerbs() bool { return s.discoversWriteVerbs }
