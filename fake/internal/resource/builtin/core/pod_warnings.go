package core

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// podWarnings returns the warnings for a new pod. A server returns none for an update.
func podWarnings(pod *corev1.Pod) (warnings []string) {
	if messages := validation.IsDNS1123Label(pod.Name); len(messages) > 0 {
		warnings = append(warnings, fmt.Sprintf("metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: %v", messages))
	}
	return append(warnings, podSpecWarnings(&pod.Spec, &pod.ObjectMeta, nil)...)
}

// PodTemplateWarnings returns the warnings for the template of a workload. On an update a server
// returns them only if the workload has a new generation.
func PodTemplateWarnings(template *corev1.PodTemplateSpec, p *validate.Path) []string {
	return podSpecWarnings(&template.Spec, &template.ObjectMeta, p)
}

// podTemplateWarnings returns the warnings for a PodTemplate.
func podTemplateWarnings(t *corev1.PodTemplate) []string {
	var root *validate.Path
	return PodTemplateWarnings(&t.Template, root.Child("template"))
}

func podTemplateUpdateWarnings(t, old *corev1.PodTemplate) []string {
	if t.Generation == old.Generation {
		return nil
	}
	return podTemplateWarnings(t)
}

// podSpecWarnings returns the warnings for a pod or a template. p is its path, which is nil for a
// pod.
func podSpecWarnings(spec *corev1.PodSpec, meta *metav1.ObjectMeta, p *validate.Path) []string {
	at, annotations := p.Child("spec"), p.Child("metadata").Child("annotations")
	warnings := nodeSelectionWarnings(spec, at)
	warnings = append(warnings, annotationWarnings(meta.Annotations, annotations)...)
	warnings = append(warnings, volumeWarnings(spec, at)...)
	warnings = append(warnings, hostAliasWarnings(spec.HostAliases, at.Child("hostAliases"))...)
	warnings = append(warnings, imagePullSecretWarnings(spec.ImagePullSecrets, at.Child("imagePullSecrets"))...)
	for _, name := range [...]corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		warnings = append(warnings, fractionalResourceWarnings(spec.Overhead, name, at.Child("overhead"))...)
	}
	if spec.SecurityContext == nil || spec.SecurityContext.SeccompProfile == nil {
		warnings = append(warnings, seccompAnnotationWarnings(corev1.SeccompPodAnnotationKey, meta.Annotations, annotations)...)
	}
	warnings = append(warnings, containerWarnings(spec, meta.Annotations, p)...)
	if seconds := spec.TerminationGracePeriodSeconds; seconds != nil && *seconds < 0 {
		warnings = append(warnings, at.Child("terminationGracePeriodSeconds").String()+": must be >= 0; negative values are invalid and will be treated as 1")
	}
	warnings = append(warnings, podAffinityWarnings(spec.Affinity, at.Child("affinity"))...)
	if spec.DNSConfig != nil {
		for i, server := range spec.DNSConfig.Nameservers {
			warnings = append(warnings, addressWarnings(server, at.Child("dnsConfig").Child("nameservers").Index(i))...)
		}
	}
	for i := range spec.HostAliases {
		warnings = append(warnings, addressWarnings(spec.HostAliases[i].IP, at.Child("hostAliases").Index(i).Child("ip"))...)
	}
	return warnings
}

// nodeSelectionWarnings returns the warnings for how a pod selects nodes. p is the path of the
// spec.
func nodeSelectionWarnings(spec *corev1.PodSpec, p *validate.Path) (warnings []string) {
	for key := range spec.NodeSelector {
		if text := NodeLabelDeprecation(key); text != "" {
			warnings = append(warnings, p.Child("nodeSelector").Key(key).String()+": "+text)
		}
	}
	slices.Sort(warnings)
	if spec.Affinity != nil && spec.Affinity.NodeAffinity != nil {
		warnings = append(warnings, nodeAffinityWarnings(spec.Affinity.NodeAffinity, p.Child("affinity").Child("nodeAffinity"))...)
	}
	for i := range spec.TopologySpreadConstraints {
		c, at := &spec.TopologySpreadConstraints[i], p.Child("topologySpreadConstraints").Index(i)
		if text := NodeLabelDeprecation(c.TopologyKey); text != "" {
			warnings = append(warnings, fmt.Sprintf("%s: %s is %s", at.Child("topologyKey").String(), c.TopologyKey, text))
		}
		if c.LabelSelector == nil {
			warnings = append(warnings, noSelectorWarning(at))
		}
	}
	return warnings
}

// nodeAffinityWarnings returns the warnings for terms with deprecated labels, and for preferred
// ones with values that no node has.
func nodeAffinityWarnings(a *corev1.NodeAffinity, p *validate.Path) (warnings []string) {
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		for i := range required.NodeSelectorTerms {
			warnings = append(warnings, nodeSelectorTermWarnings(&required.NodeSelectorTerms[i], p.Child(requiredAffinity).Child("nodeSelectorTerms").Index(i))...)
		}
	}
	for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		term, at := &a.PreferredDuringSchedulingIgnoredDuringExecution[i].Preference, p.Child(preferredAffinity).Index(i).Child("preference")
		warnings = append(warnings, nodeSelectorTermWarnings(term, at)...)
		for j := range term.MatchExpressions {
			for k, value := range term.MatchExpressions[j].Values {
				for _, message := range validation.IsValidLabelValue(value) {
					warnings = append(warnings, fmt.Sprintf("%s: %s is invalid, %s", at.Child("matchExpressions").Index(j).Child("values").Index(k).String(), value, message))
				}
			}
		}
	}
	return warnings
}

// podAffinityWarnings returns the warnings for terms that match no pods.
func podAffinityWarnings(affinity *corev1.Affinity, p *validate.Path) (warnings []string) {
	if affinity == nil {
		return nil
	}
	if a := affinity.PodAffinity; a != nil {
		warnings = append(warnings, affinityTermWarnings(a.RequiredDuringSchedulingIgnoredDuringExecution,
			a.PreferredDuringSchedulingIgnoredDuringExecution, p.Child("podAffinity"))...)
	}
	if a := affinity.PodAntiAffinity; a != nil {
		warnings = append(warnings, affinityTermWarnings(a.RequiredDuringSchedulingIgnoredDuringExecution,
			a.PreferredDuringSchedulingIgnoredDuringExecution, p.Child("podAntiAffinity"))...)
	}
	return warnings
}

func affinityTermWarnings(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, p *validate.Path) (warnings []string) {
	for i := range required {
		if required[i].LabelSelector == nil {
			warnings = append(warnings, noSelectorWarning(p.Child(requiredAffinity).Index(i)))
		}
	}
	for i := range preferred {
		if preferred[i].PodAffinityTerm.LabelSelector == nil {
			warnings = append(warnings, noSelectorWarning(p.Child(preferredAffinity).Index(i).Child("podAffinityTerm")))
		}
	}
	return warnings
}

func noSelectorWarning(p *validate.Path) string {
	return p.Child("labelSelector").String() + ": a null labelSelector results in matching no pod"
}

// annotationWarnings returns the warnings for annotations that have no meaning any more.
func annotationWarnings(annotations map[string]string, p *validate.Path) (warnings []string) {
	for _, deprecated := range [...]struct{ key, message string }{
		{"scheduler.alpha.kubernetes.io/critical-pod", `non-functional in v1.16+; use the "priorityClassName" field instead`},
		{"security.alpha.kubernetes.io/sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
		{"security.alpha.kubernetes.io/unsafe-sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
	} {
		if _, ok := annotations[deprecated.key]; ok {
			warnings = append(warnings, p.Key(deprecated.key).String()+": "+deprecated.message)
		}
	}
	return warnings
}

// appArmorAnnotationWarning is the warning for an AppArmor profile in an annotation. p is the path
// of the annotations.
func appArmorAnnotationWarning(key string, p *validate.Path) string {
	return p.Key(key).String() + `: deprecated since v1.30; use the "appArmorProfile" field instead`
}

// hostAliasWarnings returns the warnings for addresses that have two lines.
func hostAliasWarnings(aliases []corev1.HostAlias, p *validate.Path) (warnings []string) {
	var seen smallSet[string]
	for i := range aliases {
		if !seen.add(aliases[i].IP) {
			warnings = append(warnings, fmt.Sprintf("%s: duplicate ip %q", p.Index(i).Child("ip").String(), aliases[i].IP))
		}
	}
	return warnings
}

// imagePullSecretWarnings returns the warnings for names that are repeated or empty.
func imagePullSecretWarnings(secrets []corev1.LocalObjectReference, p *validate.Path) (warnings []string) {
	var seen smallSet[string]
	for i := range secrets {
		if !seen.add(secrets[i].Name) {
			warnings = append(warnings, fmt.Sprintf("%s: duplicate name %q", p.Index(i).Child("name").String(), secrets[i].Name))
		}
	}
	for i := range secrets {
		if secrets[i].Name == "" {
			warnings = append(warnings, fmt.Sprintf("%s: invalid empty name %q", p.Index(i).Child("name").String(), ""))
		}
	}
	return warnings
}
