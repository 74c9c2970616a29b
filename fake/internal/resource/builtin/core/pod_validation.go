package core

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validatePod validates a new pod.
func validatePod(pod *corev1.Pod) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	errs := validatePodObject(pod, PodValidationOptions{isPod: true})
	if len(pod.Spec.EphemeralContainers) > 0 {
		errs = append(errs, p.Child("ephemeralContainers").Forbidden("cannot be set on create"))
	}
	if pod.Spec.NodeName != "" && len(pod.Spec.SchedulingGates) > 0 {
		errs = append(errs, p.Child("nodeName").Forbidden("cannot be set until all schedulingGates have been cleared"))
	}
	return append(errs, validateProfileAnnotations(pod.Annotations, &pod.Spec, p)...)
}

// validatePodObject validates what new and updated pods have in common.
func validatePodObject(pod *corev1.Pod, opts PodValidationOptions) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	errs := validatePodAnnotations(pod.Annotations, &pod.Spec, opts, root.Child("metadata").Child("annotations"))
	errs = append(errs, validatePodSpec(&pod.Spec, &pod.ObjectMeta, opts, p)...)
	errs = append(errs, validateTokensOfPod(&pod.Spec, p)...)
	return append(errs, validateImagesOfPod(&pod.Spec, p)...)
}

// ValidatePodTemplateSpec validates the template of a workload: its metadata and the spec of its
// pods.
func ValidatePodTemplateSpec(template *corev1.PodTemplateSpec, opts PodValidationOptions, p *validate.Path) field.ErrorList {
	errs := validatePodTemplateSpec(template, opts, p)
	if len(errs) > 0 && opts.old != nil {
		return validatePodTemplateSpec(template, opts.relaxed(), p)
	}
	return errs
}

func validatePodTemplateSpec(template *corev1.PodTemplateSpec, opts PodValidationOptions, p *validate.Path) field.ErrorList {
	spec := p.Child("spec")
	errs := validate.Labels(template.Labels, p.Child("labels"))
	errs = append(errs, validate.Annotations(template.Annotations, p.Child("annotations"))...)
	errs = append(errs, validatePodAnnotations(template.Annotations, &template.Spec, opts, p.Child("annotations"))...)
	errs = append(errs, validatePodSpec(&template.Spec, nil, opts, spec)...)
	errs = append(errs, validateProfileAnnotations(template.Annotations, &template.Spec, spec)...)
	if len(template.Spec.EphemeralContainers) > 0 {
		errs = append(errs, spec.Child("ephemeralContainers").Forbidden("ephemeral containers not allowed in pod template"))
	}
	return errs
}

// validatePodTemplate validates a new PodTemplate.
func validatePodTemplate(t *corev1.PodTemplate) field.ErrorList {
	var root *validate.Path
	return ValidatePodTemplateSpec(&t.Template, PodValidationOptions{}, root.Child("template"))
}

// validatePodTemplateUpdate validates an update of a PodTemplate.
func validatePodTemplateUpdate(t, old *corev1.PodTemplate) field.ErrorList {
	var root *validate.Path
	return ValidatePodTemplateSpec(&t.Template, PodTemplateValidationOptions(&t.Template, &old.Template), root.Child("template"))
}

// validatePodSpec validates the spec of a pod, or that of a template, for which meta is nil. p is
// its path.
func validatePodSpec(spec *corev1.PodSpec, meta *metav1.ObjectMeta, opts PodValidationOptions, p *validate.Path) (errs field.ErrorList) {
	if spec.TerminationGracePeriodSeconds == nil {
		errs = append(errs, p.Child("terminationGracePeriodSeconds").Required(""))
	}
	volumes, problems := validatePodVolumes(spec, meta, opts, p)
	errs = append(errs, problems...)
	errs = append(errs, validatePodResourceClaims(spec.ResourceClaims, meta, p.Child("resourceClaims"))...)
	errs = append(errs, validatePodContainers(spec, volumes, opts, p)...)
	errs = append(errs, validatePodResources(spec, opts, p)...)
	errs = append(errs, validateHostPorts(spec, opts, p.Child("containers"))...)
	errs = append(errs, validateRestartPolicy(spec.RestartPolicy, p.Child("restartPolicy"))...)
	errs = append(errs, validateDNSPolicy(spec.DNSPolicy, p.Child("dnsPolicy"))...)
	errs = append(errs, validate.Labels(spec.NodeSelector, p.Child("nodeSelector"))...)
	errs = append(errs, validatePodSecurityContext(spec, opts, p.Child("securityContext"))...)
	if share := spec.ShareProcessNamespace; share != nil && *share && spec.HostPID {
		errs = append(errs, p.Child("shareProcessNamespace").Invalid(*share, "ShareProcessNamespace and HostPID cannot both be enabled"))
	}
	errs = append(errs, validateAffinity(spec.Affinity, opts, p.Child("affinity"))...)
	errs = append(errs, validateDNSConfig(spec.DNSConfig, spec.DNSPolicy, p.Child("dnsConfig"))...)
	for i := range spec.ReadinessGates {
		errs = append(errs, validate.LabelName(string(spec.ReadinessGates[i].ConditionType), p.Child("readinessGates").Index(i).Child("conditionType"))...)
	}
	errs = append(errs, validateSchedulingGates(spec.SchedulingGates, p.Child("schedulingGates"))...)
	errs = append(errs, validateTopologySpreadConstraints(spec.TopologySpreadConstraints, opts, p.Child("topologySpreadConstraints"))...)
	errs = append(errs, validateHostProcess(spec, p)...)
	errs = append(errs, validateHostUsers(spec, opts, p)...)
	errs = append(errs, validateHostnameOverride(spec, p.Child("hostnameOverride"))...)
	errs = append(errs, validatePodNames(spec, p)...)
	errs = append(errs, validateTolerations(spec.Tolerations, opts, p.Child("tolerations"))...)
	errs = append(errs, validateHostAliases(spec.HostAliases, p.Child("hostAliases"))...)
	if name := spec.PriorityClassName; name != "" {
		errs = append(errs, validate.DNSSubdomain(name, p.Child("priorityClassName"))...)
	}
	if name := spec.RuntimeClassName; name != nil {
		errs = append(errs, validate.DNSSubdomain(*name, p.Child("runtimeClassName"))...)
	}
	errs = append(errs, validatePreemptionPolicy(spec.PreemptionPolicy, p.Child("preemptionPolicy"))...)
	errs = append(errs, validateOverhead(spec.Overhead, opts, p.Child("overhead"))...)
	errs = append(errs, validateOS(spec, p)...)
	errs = append(errs, validateSchedulingGroup(spec, p.Child("schedulingGroup"))...)
	return append(errs, validateFileKeyRefVolumes(spec, p)...)
}

// validatePodNames validates the names that a pod refers to or has, and its deadline. p is the path
// of the spec.
func validatePodNames(spec *corev1.PodSpec, p *validate.Path) (errs field.ErrorList) {
	if name := spec.ServiceAccountName; name != "" {
		errs = append(errs, validate.Messages(name, apivalidation.ValidateServiceAccountName(name, false), p.Child("serviceAccountName"))...)
	}
	if name := spec.NodeName; name != "" {
		errs = append(errs, validate.DNSSubdomain(name, p.Child("nodeName"))...)
	}
	if seconds := spec.ActiveDeadlineSeconds; seconds != nil && (*seconds < 1 || *seconds > math.MaxInt32) {
		errs = append(errs, p.Child("activeDeadlineSeconds").Invalid(*seconds, validation.InclusiveRangeError(1, math.MaxInt32)))
	}
	if name := spec.Hostname; name != "" {
		errs = append(errs, validate.DNSLabel(name, p.Child("hostname"))...)
	}
	if name := spec.Subdomain; name != "" {
		errs = append(errs, validate.DNSLabel(name, p.Child("subdomain"))...)
	}
	return errs
}

// validateRestartPolicy validates when the containers of a pod are restarted.
func validateRestartPolicy(policy corev1.RestartPolicy, p *validate.Path) field.ErrorList {
	switch policy {
	case corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever:
		return nil
	case "":
		return field.ErrorList{p.Required("")}
	}
	return field.ErrorList{validate.NotSupported(p, policy, corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)}
}

// validateHostPorts validates that the ports of a pod in the network of its host are those of the
// host. A template may leave them to the defaults of its pods. p is the path of the containers.
func validateHostPorts(spec *corev1.PodSpec, opts PodValidationOptions, p *validate.Path) (errs field.ErrorList) {
	if !spec.HostNetwork {
		return nil
	}
	for i := range spec.Containers {
		for j := range spec.Containers[i].Ports {
			port := &spec.Containers[i].Ports[j]
			if port.HostPort != port.ContainerPort && (opts.isPod || port.HostPort != 0) {
				errs = append(errs, p.Index(i).Child("ports").Index(j).Child("hostPort").Invalid(port.HostPort, "must match `containerPort` when `hostNetwork` is true"))
			}
		}
	}
	return errs
}
