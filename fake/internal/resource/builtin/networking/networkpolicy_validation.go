package networking

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// networkPolicyOptions are rules that depend on the policy that an update replaces: what it has
// already stays valid. The zero value has the rules for new policies.
type networkPolicyOptions struct {
	selector metav1validation.LabelSelectorValidationOptions
	// oldCIDRs are the CIDRs that stay valid.
	oldCIDRs map[string]bool
}

// validateNetworkPolicy validates a new policy. Tags of its type require the CIDR of a block.
func validateNetworkPolicy(np *networkingv1.NetworkPolicy) field.ErrorList {
	return validateNetworkPolicySpec(&np.Spec, networkPolicyOptions{})
}

// validateNetworkPolicyUpdate validates a policy that replaces old.
func validateNetworkPolicyUpdate(np, old *networkingv1.NetworkPolicy) field.ErrorList {
	var root *validate.Path
	opts := networkPolicyOptions{oldCIDRs: map[string]bool{}}
	opts.selector.AllowInvalidLabelValueInSelector = len(validate.LabelSelector(&old.Spec.PodSelector, opts.selector, root)) > 0
	for i := range old.Spec.Ingress {
		addCIDRs(opts.oldCIDRs, old.Spec.Ingress[i].From)
	}
	for i := range old.Spec.Egress {
		addCIDRs(opts.oldCIDRs, old.Spec.Egress[i].To)
	}
	return validateNetworkPolicySpec(&np.Spec, opts)
}

// addCIDRs adds the CIDRs of peers to set.
func addCIDRs(set map[string]bool, peers []networkingv1.NetworkPolicyPeer) {
	for _, peer := range peers {
		if peer.IPBlock == nil {
			continue
		}
		set[peer.IPBlock.CIDR] = true
		for _, cidr := range peer.IPBlock.Except {
			set[cidr] = true
		}
	}
}

func validateNetworkPolicySpec(spec *networkingv1.NetworkPolicySpec, opts networkPolicyOptions) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	errs := validate.LabelSelector(&spec.PodSelector, opts.selector, p.Child("podSelector"))
	for i := range spec.Ingress {
		rule, at := &spec.Ingress[i], p.Child("ingress").Index(i)
		errs = append(errs, validateNetworkPolicyPorts(rule.Ports, at.Child("ports"))...)
		errs = append(errs, validateNetworkPolicyPeers(rule.From, opts, at.Child("from"))...)
	}
	for i := range spec.Egress {
		rule, at := &spec.Egress[i], p.Child("egress").Index(i)
		errs = append(errs, validateNetworkPolicyPorts(rule.Ports, at.Child("ports"))...)
		errs = append(errs, validateNetworkPolicyPeers(rule.To, opts, at.Child("to"))...)
	}
	types := p.Child("policyTypes")
	if len(spec.PolicyTypes) > 2 {
		return append(errs, types.Invalid(spec.PolicyTypes, "may not specify more than two policyTypes"))
	}
	for i, t := range spec.PolicyTypes {
		if t != networkingv1.PolicyTypeIngress && t != networkingv1.PolicyTypeEgress {
			errs = append(errs, validate.NotSupported(types.Index(i), t, networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress))
		}
	}
	return errs
}

func validateNetworkPolicyPorts(ports []networkingv1.NetworkPolicyPort, p *validate.Path) (errs field.ErrorList) {
	for i := range ports {
		errs = append(errs, validateNetworkPolicyPort(&ports[i], p.Index(i))...)
	}
	return errs
}

// validateNetworkPolicyPort validates a port, which is a number or a name, or a range of numbers.
func validateNetworkPolicyPort(port *networkingv1.NetworkPolicyPort, p *validate.Path) (errs field.ErrorList) {
	if protocol := port.Protocol; protocol != nil && *protocol != corev1.ProtocolTCP && *protocol != corev1.ProtocolUDP && *protocol != corev1.ProtocolSCTP {
		errs = append(errs, validate.NotSupported(p.Child("protocol"), *protocol, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP))
	}
	end, endPath := port.EndPort, p.Child("endPort")
	switch {
	case port.Port == nil:
		if end != nil {
			errs = append(errs, endPath.Invalid(*end, "may not be specified when `port` is not specified"))
		}
	case port.Port.Type == intstr.Int:
		errs = append(errs, validate.PortNumber(port.Port.IntVal, p.Child("port"))...)
		if end == nil {
			break
		}
		if *end < port.Port.IntVal {
			errs = append(errs, endPath.Invalid(*end, "must be greater than or equal to `port`"))
		}
		errs = append(errs, validate.PortNumber(*end, endPath)...)
	default:
		if end != nil {
			errs = append(errs, endPath.Invalid(*end, "may not be specified when `port` is non-numeric"))
		}
		errs = append(errs, validate.Messages(port.Port.StrVal, validation.IsValidPortName(port.Port.StrVal), p.Child("port"))...)
	}
	return errs
}

// validateNetworkPolicyPeers validates that each peer is either pods or a block of addresses.
func validateNetworkPolicyPeers(peers []networkingv1.NetworkPolicyPeer, opts networkPolicyOptions, p *validate.Path) (errs field.ErrorList) {
	for i := range peers {
		peer, at := &peers[i], p.Index(i)
		errs = append(errs, validate.LabelSelector(peer.PodSelector, opts.selector, at.Child("podSelector"))...)
		errs = append(errs, validate.LabelSelector(peer.NamespaceSelector, opts.selector, at.Child("namespaceSelector"))...)
		if peer.IPBlock != nil {
			errs = append(errs, validateIPBlock(peer.IPBlock, opts, at.Child("ipBlock"))...)
		}
		switch hasSelector := peer.PodSelector != nil || peer.NamespaceSelector != nil; {
		case !hasSelector && peer.IPBlock == nil:
			errs = append(errs, at.Required("must specify a peer"))
		case hasSelector && peer.IPBlock != nil:
			errs = append(errs, at.Forbidden("may not specify both ipBlock and another peer"))
		}
	}
	return errs
}

// validateIPBlock validates a block of addresses, and that its exceptions are parts of it.
func validateIPBlock(block *networkingv1.IPBlock, opts networkPolicyOptions, p *validate.Path) field.ErrorList {
	if block.CIDR == "" {
		return nil
	}
	errs := validateCIDR(block.CIDR, opts, p.Child("cidr"))
	_, network, err := netutils.ParseCIDRSloppy(block.CIDR)
	if err != nil {
		return errs
	}
	length, _ := network.Mask.Size()
	for i, cidr := range block.Except {
		at := p.Child("except").Index(i)
		errs = append(errs, validateCIDR(cidr, opts, at)...)
		_, except, err := netutils.ParseCIDRSloppy(cidr)
		if err != nil {
			continue
		}
		if exceptLength, _ := except.Mask.Size(); !network.Contains(except.IP) || exceptLength <= length {
			errs = append(errs, at.Invalid(cidr, "must be a strict subset of `cidr`"))
		}
	}
	return errs
}

func validateCIDR(cidr string, opts networkPolicyOptions, p *validate.Path) field.ErrorList {
	if opts.oldCIDRs[cidr] {
		return nil
	}
	return validation.IsValidCIDRForLegacyField(p.Field(), cidr, true, nil)
}
