package resource

// authenticationResources are questions about users: posted, answered and not kept (VR-01).
func authenticationResources() []Resource {
	return []Resource{
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

// authorizationResources are questions about what users may do.
func authorizationResources() []Resource {
	return []Resource{
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
