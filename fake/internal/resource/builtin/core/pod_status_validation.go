package core

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/warning"
	netutils "k8s.io/utils/net"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validatePodStatusUpdate validates the status of a pod, and the metadata that is written with it.
// It adds the warnings for a valid one.
func validatePodStatusUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	pod, oldPod := obj.(*corev1.Pod), old.(*corev1.Pod)
	opts := podUpdateOptions(oldPod)
	errs := validatePodStatus(opts, pod, oldPod)
	if len(errs) > 0 {
		errs = validatePodStatus(opts.relaxed(), pod, oldPod)
	}
	if len(errs) == 0 {
		for _, text := range podStatusWarnings(&pod.Status) {
			warning.AddWarning(ctx, "", text)
		}
	}
	return errs
}

func validatePodStatus(opts PodValidationOptions, pod, old *corev1.Pod) field.ErrorList {
	var root *validate.Path
	p, status := root.Child("status"), &pod.Status
	errs := validatePodAnnotationsUpdate(pod, old, opts)
	errs = append(errs, validatePodConditions(status.Conditions, p.Child("conditions"))...)
	errs = append(errs, validateNominatedNodeName(pod, old, p.Child("nominatedNodeName"))...)
	errs = append(errs, validateObservedGeneration(status.ObservedGeneration, p.Child("observedGeneration"))...)
	if status.QOSClass != old.Status.QOSClass {
		errs = append(errs, p.Child("qosClass").Invalid(status.QOSClass, apivalidation.FieldImmutableErrorMsg))
	}
	spec := &old.Spec
	errs = append(errs, validateRestarts(status.ContainerStatuses, old.Status.ContainerStatuses, spec, spec.Containers, p.Child("containerStatuses"))...)
	errs = append(errs, validateRestarts(status.InitContainerStatuses, old.Status.InitContainerStatuses, spec, spec.InitContainers, p.Child("initContainerStatuses"))...)
	errs = append(errs, validateNoRestarts(status.EphemeralContainerStatuses, old.Status.EphemeralContainerStatuses, p.Child("ephemeralContainerStatuses"))...)
	errs = append(errs, validateResourceClaimStatuses(status.ResourceClaimStatuses, spec.ResourceClaims, p.Child("resourceClaimStatuses"))...)
	errs = append(errs, validateExtendedResourceClaimStatus(status.ExtendedResourceClaimStatus, spec, p.Child("extendedResourceClaimStatus"))...)
	errs = append(errs, validatePodIPs(status, &old.Status, p.Child("podIPs"))...)
	errs = append(errs, validateHostIPs(status, &old.Status, p.Child("hostIPs"))...)
	errs = append(errs, validateContainerUsers(status.ContainerStatuses, spec.OS, p.Child("containerStatuses"))...)
	errs = append(errs, validateContainerUsers(status.InitContainerStatuses, spec.OS, p.Child("initContainerStatuses"))...)
	errs = append(errs, validateContainerUsers(status.EphemeralContainerStatuses, spec.OS, p.Child("ephemeralContainerStatuses"))...)
	errs = append(errs, validateResourceHealth(status.ContainerStatuses, spec.Containers, status, p.Child("containerStatuses"))...)
	errs = append(errs, validateResourceHealth(status.InitContainerStatuses, spec.InitContainers, status, p.Child("initContainerStatuses"))...)
	for i := range status.EphemeralContainerStatuses {
		if len(status.EphemeralContainerStatuses[i].AllocatedResourcesStatus) > 0 {
			errs = append(errs, p.Child("ephemeralContainerStatuses").Index(i).Child("allocatedResourcesStatus").Forbidden("must not be specified in container status"))
		}
	}
	return errs
}

// podStatusWarnings returns the warnings for the addresses in a status.
func podStatusWarnings(status *corev1.PodStatus) (warnings []string) {
	var root *validate.Path
	p := root.Child("status")
	for i := range status.PodIPs {
		warnings = append(warnings, addressWarnings(status.PodIPs[i].IP, p.Child("podIPs").Index(i).Child("ip"))...)
	}
	for i := range status.HostIPs {
		warnings = append(warnings, addressWarnings(status.HostIPs[i].IP, p.Child("hostIPs").Index(i).Child("ip"))...)
	}
	return warnings
}

// validatePodConditions validates that the types of conditions are qualified names. Those of the
// system always are.
func validatePodConditions(conditions []corev1.PodCondition, p *validate.Path) (errs field.ErrorList) {
	for i := range conditions {
		errs = append(errs, validateObservedGeneration(conditions[i].ObservedGeneration, p.Index(i).Child("observedGeneration"))...)
		errs = append(errs, validate.LabelName(string(conditions[i].Type), p.Index(i).Child("Type"))...)
	}
	return errs
}

func validateObservedGeneration(generation int64, p *validate.Path) field.ErrorList {
	if generation >= 0 {
		return nil
	}
	return field.ErrorList{p.Invalid(generation, "must be a non-negative integer")}
}

// validateNominatedNodeName validates the node that a pod waits for, which one with a node cannot
// get.
func validateNominatedNodeName(pod, old *corev1.Pod, p *validate.Path) field.ErrorList {
	name := pod.Status.NominatedNodeName
	if name == "" || name == old.Status.NominatedNodeName {
		return nil
	}
	errs := validate.DNSSubdomain(name, p)
	if old.Spec.NodeName != "" {
		errs = append(errs, p.Forbidden("may not be set on pods that are already bound to a node"))
	}
	return errs
}

// validateRestarts validates that containers that have ended run again only if they are restarted.
// containers are those that the statuses are for.
func validateRestarts(statuses, old []corev1.ContainerStatus, spec *corev1.PodSpec, containers []corev1.Container, p *validate.Path) (errs field.ErrorList) {
	if restartsAllContainers(spec) {
		return nil
	}
	names := unendedContainers(statuses)
	var byName map[string]*corev1.Container
	for i := range old {
		ended := old[i].State.Terminated
		if ended == nil || !names.has(old[i].Name) {
			continue
		}
		if byName == nil {
			byName = containersByName(containers)
		}
		if c := byName[old[i].Name]; c == nil || !shouldRestart(c, spec, ended.ExitCode) {
			errs = append(errs, p.Index(i).Child("state").Forbidden("may not be transitioned to non-terminated state"))
		}
	}
	return errs
}

// validateNoRestarts is validateRestarts for ephemeral containers, which are never restarted.
func validateNoRestarts(statuses, old []corev1.ContainerStatus, p *validate.Path) (errs field.ErrorList) {
	names := unendedContainers(statuses)
	for i := range old {
		if old[i].State.Terminated != nil && names.has(old[i].Name) {
			errs = append(errs, p.Index(i).Child("state").Forbidden("may not be transitioned to non-terminated state"))
		}
	}
	return errs
}

// unendedContainers returns the names of the containers that have not ended.
func unendedContainers(statuses []corev1.ContainerStatus) (names smallSet[string]) {
	for i := range statuses {
		if statuses[i].State.Terminated == nil {
			names.add(statuses[i].Name)
		}
	}
	return names
}

// containersByName returns the first container with each name.
func containersByName(containers []corev1.Container) map[string]*corev1.Container {
	byName := make(map[string]*corev1.Container, len(containers))
	for i := range slices.Backward(containers) {
		byName[containers[i].Name] = &containers[i]
	}
	return byName
}

// restartsAllContainers reports whether the end of a container may restart all containers of a pod,
// whatever their policies are.
func restartsAllContainers(spec *corev1.PodSpec) bool {
	return hasRestartAllRule(spec.InitContainers) || hasRestartAllRule(spec.Containers)
}

func hasRestartAllRule(containers []corev1.Container) bool {
	for i := range containers {
		for j := range containers[i].RestartPolicyRules {
			if containers[i].RestartPolicyRules[j].Action == corev1.ContainerRestartRuleActionRestartAllContainers {
				return true
			}
		}
	}
	return false
}

// shouldRestart reports whether a container that has ended is restarted: by a rule for its exit
// code, by its policy, or by that of the pod.
func shouldRestart(c *corev1.Container, spec *corev1.PodSpec, exitCode int32) bool {
	if c.RestartPolicy == nil {
		return restartsAfter(string(spec.RestartPolicy), exitCode)
	}
	for i := range c.RestartPolicyRules {
		if rule := &c.RestartPolicyRules[i]; matchesExitCode(rule.ExitCodes, exitCode) {
			if rule.Action == corev1.ContainerRestartRuleActionRestart {
				return true
			}
			break
		}
	}
	return restartsAfter(string(*c.RestartPolicy), exitCode)
}

// restartsAfter reports whether a policy restarts a container. The names of policies of pods and of
// containers are the same.
func restartsAfter(policy string, exitCode int32) bool {
	switch policy {
	case string(corev1.RestartPolicyNever):
		return false
	case string(corev1.RestartPolicyOnFailure):
		return exitCode != 0
	}
	return true
}

func matchesExitCode(codes *corev1.ContainerRestartRuleOnExitCodes, exitCode int32) bool {
	if codes == nil {
		return false
	}
	isIn := slices.Contains(codes.Values, exitCode)
	return codes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn && isIn ||
		codes.Operator == corev1.ContainerRestartRuleOnExitCodesOpNotIn && !isIn
}

// validatePodIPs validates the addresses of a pod. Old ones stay valid. The defaults make podIP the
// first one.
func validatePodIPs(status, old *corev1.PodStatus, p *validate.Path) (errs field.ErrorList) {
	var known smallSet[corev1.PodIP]
	for _, ip := range old.PodIPs {
		known.add(ip)
	}
	for i, ip := range status.PodIPs {
		if !known.has(ip) {
			errs = append(errs, validateAddress(ip.IP, p.Index(i))...)
		}
	}
	if len(status.PodIPs) > 1 {
		ips := make([]string, len(status.PodIPs))
		for i := range status.PodIPs {
			ips[i] = status.PodIPs[i].IP
		}
		errs = append(errs, validateOneAddressPerFamily(ips, status.PodIPs, p)...)
	}
	if (status.PodIP == "") != (len(status.PodIPs) == 0) {
		errs = append(errs, p.Invalid(status.PodIPs, "podIP and podIPs must either both be set or both be unset"))
	}
	return errs
}

// validateHostIPs validates the addresses of the node of a pod. Old ones stay valid.
func validateHostIPs(status, old *corev1.PodStatus, p *validate.Path) (errs field.ErrorList) {
	if len(status.HostIPs) == 0 {
		return nil
	}
	if status.HostIPs[0].IP != status.HostIP {
		errs = append(errs, p.Index(0).Child("ip").Invalid(status.HostIPs[0].IP, "must be equal to `hostIP`"))
	}
	var known smallSet[corev1.HostIP]
	for _, ip := range old.HostIPs {
		known.add(ip)
	}
	for i, ip := range status.HostIPs {
		if !known.has(ip) {
			errs = append(errs, validateAddress(ip.IP, p.Index(i))...)
		}
	}
	if len(status.HostIPs) > 1 {
		ips := make([]string, len(status.HostIPs))
		for i := range status.HostIPs {
			ips[i] = status.HostIPs[i].IP
		}
		errs = append(errs, validateOneAddressPerFamily(ips, status.HostIPs, p)...)
	}
	return errs
}

// validateOneAddressPerFamily validates that there are two addresses, one of each family. value is
// the list in the error.
func validateOneAddressPerFamily(ips []string, value any, p *validate.Path) (errs field.ErrorList) {
	dualStack, err := netutils.IsDualStackIPStrings(ips)
	if err != nil {
		errs = append(errs, field.InternalError(p.Field(), fmt.Errorf("failed to check for dual stack with error:%v", err)))
	}
	if !dualStack || len(ips) > 2 {
		errs = append(errs, p.Invalid(value, "may specify no more than one IP for each IP family"))
	}
	return errs
}

// validateContainerUsers validates the users that containers run as, which are those of Linux
// unless os is another one.
func validateContainerUsers(statuses []corev1.ContainerStatus, os *corev1.PodOS, p *validate.Path) (errs field.ErrorList) {
	for i := range statuses {
		if statuses[i].User == nil || statuses[i].User.Linux == nil {
			continue
		}
		user, at := statuses[i].User.Linux, p.Index(i).Child("user").Child("linux")
		switch {
		case os == nil || os.Name == corev1.Linux:
			if user.UID < 0 || user.UID > math.MaxUint32 {
				errs = append(errs, at.Child("uid").Invalid(user.UID, fmt.Sprintf("must be between 0 and %d, inclusive", int64(math.MaxUint32))))
			}
			errs = append(errs, validateGroupID(user.GID, at.Child("gid"))...)
			for j, group := range user.SupplementalGroups {
				errs = append(errs, validateGroupID(group, at.Child("supplementalGroups").Index(j))...)
			}
		case os.Name == corev1.Windows:
			errs = append(errs, at.Forbidden("cannot be set for a windows pod"))
		}
	}
	return errs
}

// resourceStatusClaimPrefix is the prefix of the name of a resource status that is for a claim.
const resourceStatusClaimPrefix = "claim:"

// addressWarnings returns the warning for a valid IP address that is not in its usual form.
func addressWarnings(value string, p *validate.Path) []string {
	var buf [64]byte
	if addr, err := netip.ParseAddr(value); err == nil && !addr.Is4In6() && string(addr.AppendTo(buf[:0])) == value {
		return nil
	}
	if netutils.ParseIPSloppy(value) == nil {
		return nil
	}
	return validation.GetWarningsForIP(p.Field(), value)
}
