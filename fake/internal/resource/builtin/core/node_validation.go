//lint:file-ignore SA1019 nodes of old clients have the field

package core

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateNode validates a new node.
func validateNode(node *corev1.Node) field.ErrorList { return validateNodeFields(node, nil) }

// validateNodeUpdate validates a node that replaces old. A real server finds many errors twice.
func validateNodeUpdate(node, old *corev1.Node) field.ErrorList {
	errs := validateNodeFields(node, old.Spec.PodCIDRs)
	return append(errs, validateNodeChange(node, old)...)
}

// validateNodeFields validates a node. oldCIDRs are those of the node that is replaced, which stay
// valid. The path of the taints is the one of a real server.
func validateNodeFields(node *corev1.Node, oldCIDRs []string) field.ErrorList {
	var root *validate.Path
	metadata := root.Child("metadata")
	errs := validateNodeAnnotations(node.Annotations, metadata.Child("annotations"))
	errs = append(errs, validateTaints(node.Spec.Taints, metadata.Child("taints"))...)
	errs = append(errs, validateNodeResources(&node.Status, root.Child("status"))...)
	if swap := node.Status.NodeInfo.Swap; swap != nil && swap.Capacity != nil && *swap.Capacity <= 0 {
		errs = append(errs, metadata.Child("nodeSwapStatus").Child("capacity").Invalid(*swap.Capacity, "must be greater than zero"))
	}
	errs = append(errs, validateDeclaredFeatures(node.Status.DeclaredFeatures, root.Child("status").Child("declaredFeatures"))...)
	return append(errs, validatePodCIDRs(node.Spec.PodCIDRs, oldCIDRs, root.Child("spec").Child("podCIDRs"))...)
}

// validateNodeChange validates a node or its status that replaces old: what cannot change, and what
// the status has.
func validateNodeChange(node, old *corev1.Node) field.ErrorList {
	var root *validate.Path
	metadata, spec, status := root.Child("metadata"), root.Child("spec"), root.Child("status")
	errs := validateNodeAnnotations(node.Annotations, metadata.Child("annotations"))
	errs = append(errs, validateNodeResources(&node.Status, status)...)
	errs = append(errs, validateDeclaredFeatures(node.Status.DeclaredFeatures, status.Child("declaredFeatures"))...)
	errs = append(errs, validateNodeAddresses(node.Status.Addresses, status.Child("addresses"))...)
	errs = append(errs, validatePodCIDRsUpdate(node.Spec.PodCIDRs, old.Spec.PodCIDRs, spec.Child("podCIDRs"))...)
	errs = append(errs, validateProviderIDUpdate(node.Spec.ProviderID, old.Spec.ProviderID, spec.Child("providerID"))...)
	errs = append(errs, validateTaints(node.Spec.Taints, metadata.Child("taints"))...)
	if node.Spec.DoNotUseExternalID != old.Spec.DoNotUseExternalID {
		errs = append(errs, spec.Child("externalID").Forbidden("may not be updated"))
	}
	return errs
}

// validateNodeAnnotations validates the annotations that had taints and preferences before there
// were fields for them. A real server decodes the taints into a type of its package core.
func validateNodeAnnotations(annotations map[string]string, p *validate.Path) (errs field.ErrorList) {
	const taintsKey = "scheduler.alpha.kubernetes.io/taints"
	if text := annotations[taintsKey]; text != "" {
		var taints []corev1.Taint
		if err := json.Unmarshal([]byte(text), &taints); err != nil {
			errs = append(errs, p.Invalid(taintsKey, strings.ReplaceAll(err.Error(), "v1.Taint", "core.Taint")))
		} else {
			errs = append(errs, validateTaints(taints, p.Child(taintsKey))...)
		}
	}
	text := annotations[corev1.PreferAvoidPodsAnnotationKey]
	if text == "" {
		return errs
	}
	var avoid corev1.AvoidPods
	if err := json.Unmarshal([]byte(text), &avoid); err != nil {
		return append(errs, p.Child("AvoidPods").Invalid(corev1.PreferAvoidPodsAnnotationKey, err.Error()))
	}
	for i := range avoid.PreferAvoidPods {
		path := p.Child(corev1.PreferAvoidPodsAnnotationKey).Index(i).Child("PodSignature")
		switch owner := avoid.PreferAvoidPods[i].PodSignature.PodController; {
		case owner == nil:
			errs = append(errs, path.Required(""))
		case owner.Controller == nil || !*owner.Controller:
			errs = append(errs, path.Child("PodController").Child("Controller").Invalid(false, "must point to a controller"))
		}
	}
	return errs
}

func validateTaints(taints []corev1.Taint, p *validate.Path) (errs field.ErrorList) {
	type taintKey struct {
		key    string
		effect corev1.TaintEffect
	}
	seen := make(map[taintKey]bool, len(taints))
	for i := range taints {
		taint, path := &taints[i], p.Index(i)
		errs = append(errs, validate.LabelName(taint.Key, path.Child("key"))...)
		if messages := validation.IsValidLabelValue(taint.Value); len(messages) > 0 {
			errs = append(errs, path.Child("value").Invalid(taint.Value, strings.Join(messages, ";")))
		}
		switch taint.Effect {
		case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		case "":
			errs = append(errs, path.Child("effect").Required(""))
		default:
			errs = append(errs, validate.NotSupported(path.Child("effect"), taint.Effect,
				corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute))
		}
		key := taintKey{taint.Key, taint.Effect}
		if seen[key] {
			duplicate := path.Duplicate(*taint)
			duplicate.Detail = "taints must be unique by key and effect pair"
			errs = append(errs, duplicate)
		}
		seen[key] = true
	}
	return errs
}

func validateNodeResources(status *corev1.NodeStatus, p *validate.Path) (errs field.ErrorList) {
	for _, name := range slices.Sorted(maps.Keys(status.Capacity)) {
		errs = append(errs, validateResourceQuantity(name, status.Capacity[name], p.Child("capacity").Child(string(name)))...)
	}
	for _, name := range slices.Sorted(maps.Keys(status.Allocatable)) {
		errs = append(errs, validateResourceQuantity(name, status.Allocatable[name], p.Child("allocatable").Child(string(name)))...)
	}
	return errs
}

// validateDeclaredFeatures validates that names are well-formed, and sorted without duplicates.
func validateDeclaredFeatures(features []string, p *validate.Path) (errs field.ErrorList) {
	for i, feature := range features {
		switch {
		case len(feature) > validation.DNS1123SubdomainMaxLength:
			errs = append(errs, p.Index(i).Invalid(feature, fmt.Sprintf("invalid feature name %q: must be no more than %d characters",
				feature, validation.DNS1123SubdomainMaxLength)))
		case !isFeatureName(feature):
			errs = append(errs, p.Index(i).Invalid(feature, fmt.Sprintf("invalid feature name %q: must start with an UpperCamelCase segment, "+
				"with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes", feature)))
		}
		if i+1 == len(features) {
			break
		}
		switch next := features[i+1]; {
		case feature == next:
			errs = append(errs, p.Index(i+1).Duplicate(next))
		case feature > next:
			errs = append(errs, p.Index(i+1).Invalid(next, "list must be sorted alphabetically"))
		}
	}
	return errs
}

// isFeatureName reports whether a name consists of letters and digits, in segments that begin with
// a letter, the first one with a capital one.
func isFeatureName(name string) bool {
	if name == "" || name[0] < 'A' || name[0] > 'Z' {
		return false
	}
	for segment := range strings.SplitSeq(name, "/") {
		for i, r := range segment {
			isLetter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
			if isDigit := '0' <= r && r <= '9'; !isLetter && (!isDigit || i == 0) {
				return false
			}
		}
		if segment == "" {
			return false
		}
	}
	return true
}

func validateNodeAddresses(addresses []corev1.NodeAddress, p *validate.Path) (errs field.ErrorList) {
	seen := make(map[corev1.NodeAddress]bool, len(addresses))
	for i, address := range addresses {
		if seen[address] {
			errs = append(errs, p.Index(i).Duplicate(address))
		}
		seen[address] = true
	}
	return errs
}

// validatePodCIDRs validates the networks of a node's pods, at most one for each family.
func validatePodCIDRs(cidrs, oldCIDRs []string, p *validate.Path) (errs field.ErrorList) {
	old := sets.New(oldCIDRs...)
	for i, cidr := range cidrs {
		errs = append(errs, validateCIDR(cidr, old, p.Index(i))...)
	}
	if len(cidrs) < 2 {
		return errs
	}
	isDualStack, err := netutils.IsDualStackCIDRStrings(cidrs)
	if err != nil {
		errs = append(errs, field.InternalError(p.Field(), fmt.Errorf("invalid PodCIDRs. failed to check with dual stack with error:%w", err)))
	}
	if !isDualStack || len(cidrs) > 2 {
		errs = append(errs, p.Invalid(cidrs, "may specify no more than one CIDR for each IP family"))
	}
	return errs
}

// validateProviderIDUpdate validates that the ID does not change once there is one. The errors are
// those of the tags of the Go type, which are not in force.
func validateProviderIDUpdate(id, old string, p *validate.Path) field.ErrorList {
	switch {
	case old == "" || id == old:
		return nil
	case id == "":
		return field.ErrorList{p.Invalid(nil, "field cannot be cleared once set")}
	}
	return field.ErrorList{p.Invalid(nil, "field cannot be modified once set")}
}

// validatePodCIDRsUpdate validates that networks do not change once there are some.
func validatePodCIDRsUpdate(cidrs, old []string, p *validate.Path) (errs field.ErrorList) {
	const detail = `node updates may not change podCIDR except from "" to valid`
	if len(old) == 0 {
		return nil
	}
	if len(cidrs) != len(old) {
		return field.ErrorList{p.Forbidden(detail)}
	}
	for i := range old {
		if cidrs[i] != old[i] {
			errs = append(errs, p.Forbidden(detail))
		}
	}
	return errs
}
