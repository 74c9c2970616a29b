package resource

import "k8s.io/apimachinery/pkg/api/validation"

// coreRows are the types of the core group, which is served under /api/v1.
func coreRows() []Resource {
	return []Resource{
		{
			// Not a type of its own: what is posted is a binding of a pod (SU-13).
			Version: "v1", Plural: "bindings", Kind: "Binding", Namespaced: true,
			Verbs: []string{"create"},
		},
		{
			Version: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespaced: true,
			ShortNames:          []string{"cm"},
			UnconditionalUpdate: true,
			Validate:            validateConfigMap,
		},
		{
			Version: "v1", Plural: "endpoints", Kind: "Endpoints", Namespaced: true,
			ShortNames:          []string{"ep"},
			UnconditionalUpdate: true, CreateOnUpdate: true,
		},
		{
			Version: "v1", Plural: "events", Kind: "Event", Namespaced: true,
			ShortNames:          []string{"ev"},
			UnconditionalUpdate: true, CreateOnUpdate: true,
			ValidateName: anyName,
			Fields:       coreEventFields(),
		},
		{
			Version: "v1", Plural: "limitranges", Kind: "LimitRange", Namespaced: true,
			ShortNames:          []string{"limits"},
			UnconditionalUpdate: true, CreateOnUpdate: true,
		},
		{
			Version: "v1", Plural: "namespaces", Kind: "Namespace",
			ShortNames: []string{"ns"}, Status: true,
			Subresources:        []Subresource{finalize()},
			Keep:                keepNamespace,
			Verbs:               withoutDeleteCollection(),
			UnconditionalUpdate: true,
			ReturnsDeleted:      true,
			ValidateName:        validation.ValidateNamespaceName,
			Fields:              namespaceFields(),
			Begin:               beginNamespace,
			Normalize:           labelNamespace,
		},
		{
			Version: "v1", Plural: "nodes", Kind: "Node",
			ShortNames: []string{"no"}, Status: true, StatusOnCreate: true,
			Subresources:        []Subresource{proxied("NodeProxyOptions")},
			UnconditionalUpdate: true,
			Fields:              nodeFields(),
		},
		{
			Version: "v1", Plural: "persistentvolumeclaims", Kind: "PersistentVolumeClaim", Namespaced: true,
			ShortNames: []string{"pvc"}, Status: true,
			UnconditionalUpdate: true, ReturnsDeleted: true,
			Begin: beginClaim,
		},
		{
			Version: "v1", Plural: "persistentvolumes", Kind: "PersistentVolume",
			ShortNames: []string{"pv"}, Status: true,
			UnconditionalUpdate: true, ReturnsDeleted: true,
			Begin: beginVolume,
		},
		{
			Version: "v1", Plural: "pods", Kind: "Pod", Namespaced: true,
			ShortNames: []string{"po"}, Categories: []string{"all"}, Status: true,
			Subresources:        podSubresources(),
			UnconditionalUpdate: true, Generation: true, ReturnsDeleted: true,
			Fields: podFields(),
			Begin:  beginPod,
			Grace:  podGrace,
		},
		{
			Version: "v1", Plural: "podtemplates", Kind: "PodTemplate", Namespaced: true,
			UnconditionalUpdate: true, Generation: true, ReturnsDeleted: true,
		},
		{
			Version: "v1", Plural: "replicationcontrollers", Kind: "ReplicationController", Namespaced: true,
			ShortNames: []string{"rc"}, Categories: []string{"all"}, Status: true,
			Subresources:        []Subresource{scale()},
			UnconditionalUpdate: true, Generation: true,
			Fields: replicationControllerFields(),
		},
		{
			Version: "v1", Plural: "resourcequotas", Kind: "ResourceQuota", Namespaced: true,
			ShortNames: []string{"quota"}, Status: true,
			UnconditionalUpdate: true, ReturnsDeleted: true,
		},
		{
			Version: "v1", Plural: "secrets", Kind: "Secret", Namespaced: true,
			UnconditionalUpdate: true,
			Fields:              secretFields(),
			Normalize:           completeSecret,
			Validate:            validateSecret,
		},
		{
			Version: "v1", Plural: "serviceaccounts", Kind: "ServiceAccount", Namespaced: true,
			ShortNames:          []string{"sa"},
			Subresources:        []Subresource{token()},
			UnconditionalUpdate: true, ReturnsDeleted: true,
		},
		{
			Version: "v1", Plural: "services", Kind: "Service", Namespaced: true,
			ShortNames: []string{"svc"}, Categories: []string{"all"}, Status: true,
			Subresources:        []Subresource{proxied("ServiceProxyOptions")},
			UnconditionalUpdate: true, CreateOnUpdate: true, ReturnsDeleted: true,
			ValidateName: validation.NameIsDNS1035Label,
			Fields:       serviceFields(),
		},
	}
}

// withoutDeleteCollection are the verbs of namespaces: a whole cluster is not
// emptied by one request.
func withoutDeleteCollection() []string {
	return []string{"create", "delete", "get", "list", "patch", "update", "watch"}
}
