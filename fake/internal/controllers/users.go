package controllers

import (
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// The users of the controllers, as in a cluster where each has its service account.
var (
	aggregationController = controllerUser("clusterrole-aggregation-controller")
	garbageCollector      = controllerUser("generic-garbage-collector")
	namespaceController   = controllerUser("namespace-controller")
	podGarbageCollector   = controllerUser("pod-garbage-collector")
	quotaController       = controllerUser("resourcequota-controller")
)

// controllerUser returns the user of a controller.
func controllerUser(name string) authenticationv1.UserInfo {
	return authenticationv1.UserInfo{
		Username: serviceaccount.MakeUsername(metav1.NamespaceSystem, name),
		Groups:   append(serviceaccount.MakeGroupNames(metav1.NamespaceSystem), user.AllAuthenticated),
	}
}

// protectionController returns the user of the controller that removes the ProtectionFinalizer of a
// resource.
func protectionController(res *resource.Resource) authenticationv1.UserInfo {
	switch res.Plural {
	case "persistentvolumeclaims":
		return controllerUser("pvc-protection-controller")
	case "persistentvolumes":
		return controllerUser("pv-protection-controller")
	}
	return controllerUser("volumeattributesclass-protection-controller")
}

// kubelet returns the user that removes a pod after its grace period: the kubelet of its node or,
// without a node, the garbage collector of pods.
func kubelet(pod *memstore.Record) authenticationv1.UserInfo {
	node, _ := pod.Fields.Get("spec.nodeName")
	if node == "" {
		return podGarbageCollector
	}
	return authenticationv1.UserInfo{Username: "system:node:" + node, Groups: []string{user.NodesGroup, user.AllAuthenticated}}
}
