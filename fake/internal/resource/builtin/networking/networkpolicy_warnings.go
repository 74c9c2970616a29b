package networking

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// networkPolicyWarnings returns the warnings for CIDRs that are not in the canonical form.
func networkPolicyWarnings(np *networkingv1.NetworkPolicy) (warnings []string) {
	var root *validate.Path
	p := root.Child("spec")
	for i := range np.Spec.Ingress {
		warnings = append(warnings, peerWarnings(np.Spec.Ingress[i].From, p.Child("ingress").Index(i).Child("from"))...)
	}
	for i := range np.Spec.Egress {
		warnings = append(warnings, peerWarnings(np.Spec.Egress[i].To, p.Child("egress").Index(i).Child("to"))...)
	}
	return warnings
}

func networkPolicyUpdateWarnings(np, _ *networkingv1.NetworkPolicy) []string {
	return networkPolicyWarnings(np)
}

func peerWarnings(peers []networkingv1.NetworkPolicyPeer, p *validate.Path) (warnings []string) {
	for i := range peers {
		block, at := peers[i].IPBlock, p.Index(i).Child("ipBlock")
		if block == nil {
			continue
		}
		warnings = append(warnings, validation.GetWarningsForCIDR(at.Child("cidr").Field(), block.CIDR)...)
		for j, cidr := range block.Except {
			warnings = append(warnings, validation.GetWarningsForCIDR(at.Child("except").Index(j).Field(), cidr)...)
		}
	}
	return warnings
}
