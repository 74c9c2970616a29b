package table

import (
	"strings"

	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// networkPrinters returns the printers of policies and addresses. The description of policies is
// that of extensions/v1beta1, as on a real server.
func networkPrinters() []entry {
	gv := networkingv1.SchemeGroupVersion
	return []entry{
		newEntry(gv, func(p *networkingv1.NetworkPolicy) []any {
			return []any{p.Name, metav1.FormatLabelSelector(&p.Spec.PodSelector), since(p.CreationTimestamp)}
		}, named(), text("Pod-Selector", describes(extensionsv1beta1.NetworkPolicySpec{}, "podSelector")), age()),

		newEntry(gv, func(c *networkingv1.ServiceCIDR) []any {
			return []any{c.Name, strings.Join(c.Spec.CIDRs, ","), since(c.CreationTimestamp)}
		}, named(), text("CIDRs", describes(networkingv1.ServiceCIDRSpec{}, "cidrs")), age()),

		// A real server also has a cell for the age without a column. Clients drop it.
		newEntry(gv, func(a *networkingv1.IPAddress) []any {
			return []any{a.Name, parentOf(a), since(a.CreationTimestamp)}
		}, named(), text("ParentRef", describes(networkingv1.IPAddressSpec{}, "parentRef"))),
	}
}

// parentOf returns the object that an address is allocated to.
func parentOf(a *networkingv1.IPAddress) string {
	ref := a.Spec.ParentRef
	if ref == nil {
		return none
	}
	parts := []string{strings.ToLower(schema.GroupResource{Group: ref.Group, Resource: ref.Resource}.String())}
	if ref.Namespace != "" {
		parts = append(parts, ref.Namespace)
	}
	return strings.Join(append(parts, ref.Name), "/")
}
