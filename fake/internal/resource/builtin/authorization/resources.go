// Package authorization has the built-in types of the group authorization.k8s.io.
package authorization

import "example.com/fakeapi/fake/internal/resource"

// Resources returns reviews of permissions, which are not stored either.
func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "authorization.k8s.io", Version: "v1", Plural: "localsubjectaccessreviews", Kind: "LocalSubjectAccessReview",
			Namespaced: true, Verbs: []string{"create"},
		},
		{
			Group: "authorization.k8s.io", Version: "v1", Plural: "selfsubjectaccessreviews", Kind: "SelfSubjectAccessReview",
			Verbs: []string{"create"},
		},
		{
			Group: "authorization.k8s.io", Version: "v1", Plural: "selfsubjectrulesreviews", Kind: "SelfSubjectRulesReview",
			Verbs: []string{"create"},
		},
		{
			Group: "authorization.k8s.io", Version: "v1", Plural: "subjectaccessreviews", Kind: "SubjectAccessReview",
			Verbs: []string{"create"},
		},
	}
}
