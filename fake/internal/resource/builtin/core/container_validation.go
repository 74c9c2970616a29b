package core

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// containersOf is what the rules for a container depend on besides itself: its pod.
type containersOf struct {
	spec    *corev1.PodSpec
	volumes volumesByName // those that are valid
	claims  podClaims
	opts    PodValidationOptions
}

// validatePodContainers validates the containers, the init containers and the ephemeral containers
// of a pod or a template. volumes is what validatePodVolumes has returned: the volumes that can be
// mounted. p is the path of the spec.
func validatePodContainers(spec *corev1.PodSpec, volumes []corev1.Volume, opts PodValidationOptions, p *validate.Path) field.ErrorList {
	pod := containersOf{spec: spec, volumes: volumesByName{list: volumes}, opts: opts}
	addResourceClaims(&pod.claims.names, spec)
	errs := validateContainers(&pod, p.Child("containers"))
	errs = append(errs, validateInitContainers(&pod, p.Child("initContainers"))...)
	return append(errs, validateEphemeralContainers(&pod, p.Child("ephemeralContainers"))...)
}

// addResourceClaims adds the names of the resource claims of a pod to a set.
func addResourceClaims(names *smallSet[string], spec *corev1.PodSpec) {
	for i := range spec.ResourceClaims {
		if name := spec.ResourceClaims[i].Name; name != "" {
			names.add(name)
		}
	}
}

// validateContainers validates the containers that are neither init containers nor ephemeral.
func validateContainers(pod *containersOf, p *validate.Path) (errs field.ErrorList) {
	containers := pod.spec.Containers
	if len(containers) == 0 {
		return field.ErrorList{p.Required("")}
	}
	var names smallSet[string]
	for i := range containers {
		c, at := &containers[i], p.Index(i)
		errs = append(errs, validateContainer(pod, c, at)...)
		if !names.add(c.Name) {
			errs = append(errs, at.Child("name").Duplicate(c.Name))
		}
		errs = append(errs, validateLifecycleAndProbes(pod.spec, c, at)...)
		errs = append(errs, validateRestartRules(c, at)...)
	}
	var ports smallSet[hostPort]
	for i := range containers {
		errs = append(errs, validateHostPortsUnique(containers[i].Ports, &ports, p.Index(i))...)
	}
	return errs
}

// validateInitContainers validates the init containers, of which some are sidecars.
func validateInitContainers(pod *containersOf, p *validate.Path) (errs field.ErrorList) {
	containers := pod.spec.InitContainers
	if len(containers) == 0 {
		return nil
	}
	var names smallSet[string]
	for i := range pod.spec.Containers {
		names.add(pod.spec.Containers[i].Name)
	}
	for i := range containers {
		c, at := &containers[i], p.Index(i)
		errs = append(errs, validateContainer(pod, c, at)...)
		errs = append(errs, validateInitRestartRules(c, at)...)
		switch {
		case names.has(c.Name):
			errs = append(errs, at.Child("name").Duplicate(c.Name))
		case c.Name != "":
			names.add(c.Name)
		}
		// Init containers run one after the other, so that each may have the same ports. A server
		// reports these errors for the first one.
		var ports smallSet[hostPort]
		errs = append(errs, validateHostPortsUnique(c.Ports, &ports, p.Index(0))...)
		if isSidecar(c) {
			errs = append(errs, validateLifecycleAndProbes(pod.spec, c, at)...)
			continue
		}
		errs = append(errs, validateNoLifecycleAndProbes(c, at)...)
		if !pod.opts.anyResizePolicy {
			errs = append(errs, validateNoRestartWhenResized(c.ResizePolicy, at.Child("resizePolicy"))...)
		}
	}
	return errs
}

// validateEphemeralContainers validates containers that are added to a running pod (KEP-277).
func validateEphemeralContainers(pod *containersOf, p *validate.Path) (errs field.ErrorList) {
	containers := pod.spec.EphemeralContainers
	if len(containers) == 0 {
		return nil
	}
	var targets, names smallSet[string]
	for i := range pod.spec.Containers {
		targets.add(pod.spec.Containers[i].Name)
		names.add(pod.spec.Containers[i].Name)
	}
	for i := range pod.spec.InitContainers {
		targets.add(pod.spec.InitContainers[i].Name)
		names.add(pod.spec.InitContainers[i].Name)
	}
	for i := range containers {
		c, at := asContainer(&containers[i]), p.Index(i)
		errs = append(errs, validateContainer(pod, c, at)...)
		errs = append(errs, validateImageWithoutSpace(c.Image, at.Child("image"))...)
		if !names.add(c.Name) {
			errs = append(errs, at.Child("name").Duplicate(c.Name))
		}
		if target := containers[i].TargetContainerName; target != "" && !targets.has(target) {
			errs = append(errs, at.Child("targetContainerName").NotFound(target))
		}
		errs = append(errs, validateEphemeralFields(c, at)...)
	}
	return errs
}

// validateEphemeralFields validates that an ephemeral container has no field that such containers
// cannot have, not even an empty list.
func validateEphemeralFields(c *corev1.Container, p *validate.Path) (errs field.ErrorList) {
	const message = "cannot be set for an Ephemeral Container"
	if c.Ports != nil {
		errs = append(errs, p.Child("ports").Forbidden(message))
	}
	if c.Resources.Limits != nil || c.Resources.Requests != nil || c.Resources.Claims != nil {
		errs = append(errs, p.Child("resources").Forbidden(message))
	}
	if c.ResizePolicy != nil {
		errs = append(errs, p.Child("resizePolicy").Forbidden(message))
	}
	if c.RestartPolicy != nil {
		errs = append(errs, p.Child("restartPolicy").Forbidden(message))
	}
	if c.RestartPolicyRules != nil {
		errs = append(errs, p.Child("restartPolicyRules").Forbidden(message))
	}
	if c.LivenessProbe != nil {
		errs = append(errs, p.Child("livenessProbe").Forbidden(message))
	}
	if c.ReadinessProbe != nil {
		errs = append(errs, p.Child("readinessProbe").Forbidden(message))
	}
	if c.StartupProbe != nil {
		errs = append(errs, p.Child("startupProbe").Forbidden(message))
	}
	if c.Lifecycle != nil {
		errs = append(errs, p.Child("lifecycle").Forbidden(message))
	}
	for i := range c.VolumeMounts {
		if c.VolumeMounts[i].SubPath != "" {
			errs = append(errs, p.Child("volumeMounts").Index(i).Child("subPath").Forbidden(message))
		}
		if c.VolumeMounts[i].SubPathExpr != "" {
			errs = append(errs, p.Child("volumeMounts").Index(i).Child("subPathExpr").Forbidden(message))
		}
	}
	return errs
}

// validateContainer validates what containers of all kinds have in common.
func validateContainer(pod *containersOf, c *corev1.Container, p *validate.Path) field.ErrorList {
	errs := requireValue(c.Name, p.Child("name"))
	if c.Name != "" {
		errs = append(errs, validate.DNSLabel(c.Name, p.Child("name"))...)
	}
	errs = append(errs, requireValue(c.Image, p.Child("image"))...)
	errs = append(errs, validateTerminationMessagePolicy(c.TerminationMessagePolicy, p.Child("terminationMessagePolicy"))...)
	errs = append(errs, validateContainerPorts(c.Ports, p.Child("ports"))...)
	errs = append(errs, validateEnv(c.Env, p.Child("env"))...)
	errs = append(errs, validateEnvFrom(c.EnvFrom, p.Child("envFrom"))...)
	errs = append(errs, validateVolumeMounts(&pod.volumes, c, p.Child("volumeMounts"))...)
	errs = append(errs, validateVolumeDevices(&pod.volumes, c, p.Child("volumeDevices"))...)
	errs = append(errs, validatePullPolicy(c.ImagePullPolicy, p.Child("imagePullPolicy"))...)
	errs = append(errs, validateContainerResources(&c.Resources, &pod.claims, pod.opts, p.Child("resources"))...)
	errs = append(errs, validateResizePolicy(c.ResizePolicy, pod.spec.RestartPolicy, p.Child("resizePolicy"))...)
	hostUsers := pod.spec.HostUsers == nil || *pod.spec.HostUsers
	return append(errs, validateSecurityContext(c.SecurityContext, hostUsers, pod.opts, p.Child("securityContext"))...)
}

func validateTerminationMessagePolicy(policy corev1.TerminationMessagePolicy, p *validate.Path) field.ErrorList {
	switch policy {
	case corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError:
		return nil
	case "":
		return field.ErrorList{p.Required("")}
	}
	return field.ErrorList{validate.NotSupported(p, policy, corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)}
}

// validatePullPolicy validates when the image of a container or of a volume is pulled.
func validatePullPolicy(policy corev1.PullPolicy, p *validate.Path) field.ErrorList {
	switch policy {
	case corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever:
		return nil
	case "":
		return field.ErrorList{p.Required("")}
	}
	return field.ErrorList{validate.NotSupported(p, policy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)}
}

// validateImagesOfPod validates the images of a pod's containers by rules that the images of
// templates do not follow. p is the path of the spec.
func validateImagesOfPod(spec *corev1.PodSpec, p *validate.Path) (errs field.ErrorList) {
	for i := range spec.Containers {
		errs = append(errs, validateImageWithoutSpace(spec.Containers[i].Image, p.Child("containers").Index(i).Child("image"))...)
	}
	for i := range spec.InitContainers {
		errs = append(errs, validateImageWithoutSpace(spec.InitContainers[i].Image, p.Child("initContainers").Index(i).Child("image"))...)
	}
	return errs
}

func validateImageWithoutSpace(image string, p *validate.Path) field.ErrorList {
	if strings.TrimSpace(image) == image {
		return nil
	}
	return field.ErrorList{p.Invalid(image, "must not have leading or trailing whitespace")}
}
