// Package authentication has the built-in types of the group authentication.k8s.io.
package authentication

import "example.com/fakeapi/fake/internal/resource"

// Resources returns reviews of users. They are created, answered and not stored
// (VR-01).
func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "authentication.k8s.io", Version: "v1", Plural: "selfsubjectreviews", Kind: "SelfSubjectReview",
			Verbs: []string{"create"},
		},
		{
			Group: "authentication.k8s.io", Version: "v1", Plural: "tokenreviews", Kind: "TokenReview",
			Verbs: []string{"create"},
		},
	}
}
