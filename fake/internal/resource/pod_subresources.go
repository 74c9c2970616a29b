package resource

import (
	authenticationv1 "k8s.io/api/authentication/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// podSubresources are what can be done with a pod. The connections and the log
// need the kubelet of its node.
func podSubresources() []Subresource {
	connect := func(name, options string) Subresource {
		return Subresource{
			Name: name, IsConnect: true, Verbs: []string{"create", "get"},
			Kind: schema.GroupVersionKind{Version: "v1", Kind: options},
		}
	}
	return []Subresource{
		connect("attach", "PodAttachOptions"),
		{Name: "binding", Verbs: []string{"create"}, Kind: schema.GroupVersionKind{Version: "v1", Kind: "Binding"}},
		ephemeralContainersSubresource(),
		{
			Name: "eviction", Verbs: []string{"create"},
			Kind: policyv1.SchemeGroupVersion.WithKind("Eviction"), ConvertAccepted: convertEviction,
		},
		connect("exec", "PodExecOptions"),
		{Name: "log", Verbs: []string{"get"}},
		connect("portforward", "PodPortForwardOptions"),
		proxySubresource("PodProxyOptions"),
		resizeSubresource(),
		podStatusSubresource(),
	}
}

// convertEviction reads the version of an eviction that is still taken although its
// group is not served in it any more.
func convertEviction(sent runtime.Object) runtime.Object {
	if old, ok := sent.(*policyv1beta1.Eviction); ok {
		return &policyv1.Eviction{ObjectMeta: old.ObjectMeta, DeleteOptions: old.DeleteOptions}
	}
	return nil
}

// tokenSubresource is the subresource that issues tokens for a service account.
func tokenSubresource() Subresource {
	return Subresource{
		Name: "token", Verbs: []string{"create"},
		Kind: authenticationv1.SchemeGroupVersion.WithKind("TokenRequest"),
	}
}
