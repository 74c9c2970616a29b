package conformance_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// policyLabel is the label that the policies of the suite select by.
const policyLabel = "conformance.example.com/policies"

// namespacedResources are the resources that the policies of the suite name without a scope or an
// objectSelector. Namespaces are selected by their own labels.
var namespacedResources = []string{
	"configmaps", "namespaces", "replicasets", "poddisruptionbudgets", "poddisruptionbudgets/status",
	"gadgets", "widgets", "dials", "dials/scale",
}

// isSafePolicy reports whether a write is of a policy or a binding with this prefix, and whether a
// new policy applies to nothing but the objects of the run.
func (w writeRequest) isSafePolicy(prefix string) bool {
	path := regexp.MustCompile(`^/apis/admissionregistration\.k8s\.io/v1/(?:validating|mutating)admissionpolic(y?)[a-z]+(?:/(.*))?$`).FindStringSubmatch(w.path)
	if path == nil {
		return false
	}
	var o struct {
		Metadata metav1.ObjectMeta
		Spec     struct{ MatchConstraints admissionv1.MatchResources }
	}
	switch {
	case w.method != http.MethodPost:
		return strings.HasPrefix(path[2], prefix)
	case json.Unmarshal(w.body, &o) != nil || !strings.HasPrefix(o.Metadata.Name, prefix):
		return false
	case path[1] != "": // a binding
		return true
	}
	match := o.Spec.MatchConstraints
	return selects(match.ObjectSelector, prefix) || selects(match.NamespaceSelector, prefix) && !slices.ContainsFunc(match.ResourceRules, mayBeClusterScoped)
}

// selects reports whether a selector requires the label with a value that has this prefix.
func selects(selector *metav1.LabelSelector, prefix string) bool {
	return selector != nil && strings.HasPrefix(selector.MatchLabels[policyLabel], prefix)
}

// mayBeClusterScoped reports whether a rule may match cluster-scoped objects, which a
// namespaceSelector does not exclude.
func mayBeClusterScoped(rule admissionv1.NamedRuleWithOperations) bool {
	if rule.Scope != nil && *rule.Scope == admissionv1.NamespacedScope {
		return false
	}
	return slices.ContainsFunc(rule.Resources, func(name string) bool { return !slices.Contains(namespacedResources, name) })
}
