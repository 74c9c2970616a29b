package plugins

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/authz"
)

// Only references that begin to block need the permission for the finalizers of the owner, which is
// in the namespace of the object or in none.
func TestBlockingOwnerReferences(t *testing.T) {
	refs := func(refs ...metav1.OwnerReference) *corev1.Pod {
		pod := newPod(nil, nil)
		pod.OwnerReferences = refs
		return pod
	}
	ref := func(kind, name string, blocks *bool) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "v1", Kind: kind, Name: name, UID: "u", BlockOwnerDeletion: blocks}
	}
	other := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "other", UID: "v", BlockOwnerDeletion: new(true)}
	for _, c := range []struct {
		now, old *corev1.Pod
		want     []string // what is asked for
	}{
		{refs(ref("Pod", "o", nil)), nil, nil},
		{refs(ref("Pod", "o", new(true))), nil, []string{"update pods/finalizers ns/o"}},
		{refs(ref("Node", "o", new(true))), nil, []string{"update nodes/finalizers /o"}},
		{refs(ref("Pod", "o", new(true))), refs(ref("Pod", "o", new(true))), nil},
		{refs(ref("Pod", "o", new(true))), refs(ref("Pod", "o", new(false))), []string{"delete pods/ ns/p", "update pods/finalizers ns/o"}},
		{refs(ref("Pod", "o", new(true)), other), refs(other), []string{"delete pods/ ns/p", "update pods/finalizers ns/o"}},
		{refs(ref("Pod", "o", new(true))), refs(ref("Pod", "o", new(true)), other), []string{"delete pods/ ns/p"}},
		{refs(), refs(other), []string{"delete pods/ ns/p"}},
	} {
		var asked []string
		p := newOwnerReferencesPermission(Dependencies{Objects: storedObjects{}, Authorizer: authz.New(authorizer.AuthorizerFunc(
			func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
				asked = append(asked, a.GetVerb()+" "+a.GetResource()+"/"+a.GetSubresource()+" "+a.GetNamespace()+"/"+a.GetName())
				return authorizer.DecisionAllow, "", nil
			}))})
		attrs := writeOf(pods, c.now, nil)
		if c.old != nil {
			attrs = writeOf(pods, c.now, c.old)
		}
		require.NoError(t, call(t, p, attrs))
		require.Equal(t, c.want, asked)
		if attrs.Subresource, asked = "status", nil; c.old != nil {
			require.NoError(t, call(t, p, attrs))
			require.Empty(t, asked, "the status of a pod")
		}
	}
	blocking := writeOf(pods, refs(other), nil)
	require.NoError(t, call(t, newOwnerReferencesPermission(Dependencies{}), blocking), "everything is allowed")
}

// Who may update all finalizers may refer to owners of unknown kinds. Of what was tried, the report
// of accesses has what was needed.
func TestOwnersOfUnknownKinds(t *testing.T) {
	const all, one = "update */finalizers /*", "update pods/finalizers ns/o"
	for _, c := range []struct {
		kind, allowed, want string
		observed            []string
	}{
		{"Unknown", all, "", []string{all}},
		{"Pod", all, "", []string{all}},
		{"Pod", one, "", []string{one}},
		{"Pod", "", `pods "p" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>`, []string{one}},
		{"Unknown", one, `pods "p" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion v1 Kind Unknown: no matches for kind "Unknown" in version "v1"`, nil},
	} {
		describe := func(a authorizer.Attributes) string {
			return a.GetVerb() + " " + a.GetResource() + "/" + a.GetSubresource() + " " + a.GetNamespace() + "/" + a.GetName()
		}
		var observed []string
		p := newOwnerReferencesPermission(Dependencies{Objects: storedObjects{}, Authorizer: authz.Observe(authz.New(authorizer.AuthorizerFunc(
			func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
				if describe(a) == c.allowed {
					return authorizer.DecisionAllow, "", nil
				}
				return authorizer.DecisionNoOpinion, "", nil
			})), func(_ context.Context, a authorizer.Attributes, _ authorizer.Decision, _ string) {
			observed = append(observed, describe(a))
		})})
		pod := newPod(nil, nil)
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: c.kind, Name: "o", UID: "u", BlockOwnerDeletion: new(true)}}
		requireRefusal(t, c.want, call(t, p, writeOf(pods, pod, nil)))
		require.Equal(t, c.observed, observed)
	}
}
