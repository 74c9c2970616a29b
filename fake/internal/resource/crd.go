package resource

import apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

// IsCRDResource reports whether r is the resource of CustomResourceDefinitions.
func IsCRDResource(r *Resource) bool {
	return r.Group == apiextensionsv1.GroupName && r.Plural == "customresourcedefinitions"
}

// CRDKey returns the key of a CustomResourceDefinition in the store, or the prefix of all these
// keys if name is empty.
func CRDKey(name string) string {
	return "customresourcedefinitions." + apiextensionsv1.GroupName + "/" + name
}
