package resource

import apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

// IsCRDResource tells the type that defines others.
func IsCRDResource(r *Resource) bool {
	return r.Group == apiextensionsv1.GroupName && r.Plural == "customresourcedefinitions"
}

// CRDKey is where a definition is stored, and without a name what all their keys
// begin with.
func CRDKey(name string) string {
	return "customresourcedefinitions." + apiextensionsv1.GroupName + "/" + name
}
