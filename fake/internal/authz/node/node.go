// Package node authorizes the requests of kubelets, as the authorization mode Node of
// kube-apiserver does (https://kubernetes.io/docs/reference/access-authn-authz/node/). A kubelet
// may do what the ClusterRole system:node allows. Of secrets, volumes and other objects of users it
// reads only those that pods on its node refer to; of Nodes, Leases, CSINodes and ResourceSlices it
// reads and writes its own.
package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/rbac"
	"example.com/fakeapi/fake/internal/rbac/bootstrappolicy"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// userPrefix begins the names of users that are kubelets.
const userPrefix = "system:node:"

// NameOf returns the node of a user in the group system:nodes, and whether the user is a kubelet.
// The name is "" if the user's name has none.
func NameOf(u user.Info) (name string, isNode bool) {
	if u == nil || !strings.HasPrefix(u.GetName(), userPrefix) || !slices.Contains(u.GetGroups(), user.NodesGroup) {
		return "", false
	}
	return strings.TrimPrefix(u.GetName(), userPrefix), true
}

// Authorizer authorizes kubelets by the objects in a view of a store. It has no opinion about other
// users. It is safe for concurrent use.
type Authorizer struct {
	references *references
	rules      []rbacv1.PolicyRule
}

var _ authorizer.UnconditionalAuthorizer = (*Authorizer)(nil)
var _ authorizer.RuleResolver = (*Authorizer)(nil)

// New returns an Authorizer that decides by the objects in the view at the time of a decision.
// table has the built-in resources.
func New(view func() memstore.View, table *resource.Table) *Authorizer {
	a := &Authorizer{references: newReferences(view, table)}
	for _, role := range bootstrappolicy.Shared().ClusterRoles {
		if role.Name == "system:node" {
			a.rules = role.Rules
		}
	}
	return a
}

// RulesFor implements authorizer.RuleResolver. The rules of kubelets are not known.
func (a *Authorizer) RulesFor(_ context.Context, u user.Info, _ string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	if _, isNode := NameOf(u); isNode {
		return nil, nil, true, errors.New("node authorizer does not support user rule resolution")
	}
	return nil, nil, false, nil
}

// Authorize implements authorizer.UnconditionalAuthorizer. It allows an action or has no opinion.
func (a *Authorizer) Authorize(_ context.Context, attrs authorizer.Attributes) (authorizer.Decision, string, error) {
	name, isNode := NameOf(attrs.GetUser())
	switch {
	case !isNode:
		return authorizer.DecisionNoOpinion, "", nil
	case name == "":
		return authorizer.DecisionNoOpinion, fmt.Sprintf("unknown node for user %q", attrs.GetUser().GetName()), nil
	}
	r := request{attrs, name, a.references}
	allowed, reason, decided := r.authorize()
	if !decided {
		allowed = slices.ContainsFunc(a.rules, func(rule rbacv1.PolicyRule) bool { return rbac.RuleAllows(attrs, &rule) })
	}
	if allowed {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, reason, nil
}

// request is a request of the kubelet of a node.
type request struct {
	authorizer.Attributes
	node       string
	references *references
}

// authorize decides about the resources that are not allowed or denied as a whole. decided is false
// for others. reason is why a request is not allowed.
func (r request) authorize() (allowed bool, reason string, decided bool) {
	if !r.IsResourceRequest() {
		return false, "", false
	}
	group := schema.GroupResource{Group: r.GetAPIGroup(), Resource: r.GetResource()}
	decided = true
	switch group.String() {
	case "secrets", "configmaps":
		allowed, reason = r.readNamespaced()
	case "persistentvolumeclaims":
		if allowed, reason = r.getRelated(); r.GetSubresource() == "status" {
			allowed, reason = r.updateStatus()
		}
	case "persistentvolumes", "resourceclaims.resource.k8s.io", "volumeattachments.storage.k8s.io":
		allowed, reason = r.getRelated()
	case "serviceaccounts":
		allowed, reason = r.serviceAccount()
	case "leases.coordination.k8s.io":
		allowed, reason = r.lease()
	case "csinodes.storage.k8s.io":
		allowed, reason = r.csiNode()
	case "resourceslices.resource.k8s.io":
		allowed, reason = r.resourceSlice()
	case "podcertificaterequests.certificates.k8s.io":
		allowed, reason = r.podCertificateRequest()
	case "nodes":
		allowed, reason = r.nodes()
	case "pods":
		allowed, reason = r.pods()
	default:
		decided = false
	}
	return allowed, reason, decided
}

func (r request) hasVerb(verbs ...string) bool { return slices.Contains(verbs, r.GetVerb()) }

// selects reports whether a list or a watch is limited to objects with the node in a field.
func (r request) selects(field string) bool {
	requirements, err := r.GetFieldSelector()
	return err == nil && slices.ContainsFunc(requirements, func(q fields.Requirement) bool {
		return q.Field == field && q.Operator == selection.Equals && q.Value == r.node
	})
}

// related allows requests for an object that is related to the node.
func (r request) related() (bool, string) {
	switch {
	case r.GetName() == "":
		return false, "No Object name found"
	case !r.references.isRelated(r.node, r.GetResource(), r.GetNamespace(), r.GetName()):
		return false, fmt.Sprintf("no relationship found between node '%s' and this object", r.node)
	}
	return true, ""
}

func (r request) readNamespaced() (bool, string) {
	switch {
	case !r.hasVerb("get", "list", "watch"):
		return false, "can only read resources of this type"
	case r.GetSubresource() != "":
		return false, "cannot read subresource"
	case r.GetNamespace() == "":
		return false, "can only read namespaced object of this type"
	}
	return r.related()
}

func (r request) getRelated() (bool, string) {
	switch {
	case !r.hasVerb("get"):
		return false, "can only get individual resources of this type"
	case r.GetSubresource() != "":
		return false, "cannot get subresource"
	}
	return r.related()
}

func (r request) updateStatus() (bool, string) {
	if !r.hasVerb("update", "patch") {
		return false, "can only get/update/patch this type"
	}
	return r.related()
}

func (r request) serviceAccount() (bool, string) {
	switch {
	case r.hasVerb("get") && r.GetSubresource() == "":
		return r.readNamespaced()
	case !r.hasVerb("create") || r.GetName() == "":
		return false, "can only create tokens for individual service accounts"
	case r.GetSubresource() != "token":
		return false, "can only create token subresource of serviceaccount"
	}
	return r.related()
}

// lease allows the Lease of the node. Its name is not known on create, where the admission plugin
// NodeRestriction checks it.
func (r request) lease() (bool, string) {
	switch {
	case !r.hasVerb("get", "create", "update", "patch", "delete"):
		return false, "can only get, create, update, patch, or delete a node lease"
	case r.GetNamespace() != corev1.NamespaceNodeLease:
		return false, fmt.Sprintf("can only access leases in the %q system namespace", corev1.NamespaceNodeLease)
	case !r.hasVerb("create") && r.GetName() != r.node:
		return false, "can only access node lease with the same name as the requesting node"
	}
	return true, ""
}

// csiNode allows the CSINode of the node, but not its status: the feature gate CSIVolumeHealth is
// off.
func (r request) csiNode() (bool, string) {
	switch {
	case r.GetSubresource() == "status":
		return false, "CSINode status access requires CSIVolumeHealth feature"
	case r.GetSubresource() != "":
		return false, "cannot authorize CSINode subresources"
	case !r.hasVerb("get", "create", "update", "patch", "delete"):
		return false, "can only get, create, update, patch, or delete a CSINode"
	case !r.hasVerb("create") && r.GetName() != r.node:
		return false, "can only access CSINode with the same name as the requesting node"
	}
	return true, ""
}

func (r request) resourceSlice() (bool, string) {
	switch {
	case r.GetSubresource() != "":
		return false, "cannot authorize ResourceSlice subresources"
	case r.hasVerb("create"):
		return true, ""
	case r.hasVerb("get", "update", "patch", "delete"):
		return r.related()
	case r.hasVerb("watch", "list", "deletecollection"):
		if r.selects(resourcev1.ResourceSliceSelectorNodeName) {
			return true, ""
		}
		return false, "can only list/watch/deletecollection resourceslices with nodeName field selector"
	}
	return false, "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection"
}

func (r request) podCertificateRequest() (bool, string) {
	switch {
	case r.GetSubresource() != "":
		return false, "nodes may not access the status subresource of PodCertificateRequests"
	case r.hasVerb("create"):
		return true, ""
	case r.hasVerb("get"):
		return r.related()
	case r.hasVerb("list", "watch") && r.selects("spec.nodeName"):
		return true, ""
	case r.hasVerb("list", "watch"):
		return false, "can only list/watch podcertificaterequests with nodeName field selector"
	}
	return false, fmt.Sprintf("nodes may not %s podcertificaterequests", r.GetVerb())
}

// nodes allows the Node of the kubelet, also before it exists. NodeRestriction limits writes to it.
func (r request) nodes() (bool, string) {
	switch subresource := r.GetSubresource(); {
	case subresource == "" && r.hasVerb("create", "update", "patch"):
		return true, ""
	case subresource == "" && r.hasVerb("get", "list", "watch"):
		switch r.GetName() {
		case r.node:
			return true, ""
		case "":
			return false, fmt.Sprintf("node '%s' cannot read all nodes, only its own Node object", r.node)
		}
		return false, fmt.Sprintf("node '%s' cannot read '%s', only its own Node object", r.node, r.GetName())
	case subresource == "status":
		return r.hasVerb("update", "patch"), ""
	}
	return false, ""
}

// pods allows the pods on the node. NodeRestriction limits writes to them.
func (r request) pods() (bool, string) {
	switch subresource := r.GetSubresource(); {
	case subresource == "" && r.hasVerb("get"):
		return r.getRelated()
	case subresource == "" && r.hasVerb("list", "watch"):
		switch {
		case r.selects("spec.nodeName"):
			return true, ""
		case r.GetName() != "":
			return r.related()
		}
		return false, "can only list/watch pods with spec.nodeName field selector"
	case subresource == "":
		return r.hasVerb("create", "delete"), ""
	case subresource == "status":
		return r.hasVerb("update", "patch"), ""
	case subresource == "eviction":
		return r.hasVerb("create"), ""
	}
	return false, ""
}
