package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilsysctl "k8s.io/component-helpers/node/util/sysctl"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validatePodSecurityContext validates the security context of a pod. p is its path.
func validatePodSecurityContext(spec *corev1.PodSpec, opts PodValidationOptions, p *validate.Path) (errs field.ErrorList) {
	sc := spec.SecurityContext
	if sc == nil {
		return nil
	}
	if sc.FSGroup != nil {
		errs = append(errs, validateGroupID(*sc.FSGroup, p.Child("fsGroup"))...)
	}
	if sc.RunAsUser != nil {
		errs = append(errs, validateUserID(*sc.RunAsUser, p.Child("runAsUser"))...)
	}
	if sc.RunAsGroup != nil {
		errs = append(errs, validateGroupID(*sc.RunAsGroup, p.Child("runAsGroup"))...)
	}
	for i, group := range sc.SupplementalGroups {
		errs = append(errs, validateGroupID(group, p.Child("supplementalGroups").Index(i))...)
	}
	errs = append(errs, validateSysctls(spec, opts, p.Child("sysctls"))...)
	if policy := sc.FSGroupChangePolicy; policy != nil && *policy != corev1.FSGroupChangeAlways && *policy != corev1.FSGroupChangeOnRootMismatch {
		errs = append(errs, validate.NotSupported(p.Child("fsGroupChangePolicy"), *policy, corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch))
	}
	errs = append(errs, validateSeccompProfile(sc.SeccompProfile, p.Child("seccompProfile"))...)
	errs = append(errs, validateWindowsOptions(sc.WindowsOptions, p.Child("windowsOptions"))...)
	errs = append(errs, validateAppArmorProfile(sc.AppArmorProfile, p.Child("appArmorProfile"))...)
	if policy := sc.SupplementalGroupsPolicy; policy != nil && *policy != corev1.SupplementalGroupsPolicyMerge && *policy != corev1.SupplementalGroupsPolicyStrict {
		errs = append(errs, validate.NotSupported(p.Child("supplementalGroupsPolicy"), *policy, corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict))
	}
	if policy := sc.SELinuxChangePolicy; policy != nil && *policy != corev1.SELinuxChangePolicyMountOption && *policy != corev1.SELinuxChangePolicyRecursive {
		errs = append(errs, validate.NotSupported(p.Child("seLinuxChangePolicy"), *policy, corev1.SELinuxChangePolicyMountOption, corev1.SELinuxChangePolicyRecursive))
	}
	return errs
}

func validateUserID(id int64, p *validate.Path) field.ErrorList {
	return validate.Messages(id, validation.IsValidUserID(id), p)
}

func validateGroupID(id int64, p *validate.Path) field.ErrorList {
	return validate.Messages(id, validation.IsValidGroupID(id), p)
}

// validateSysctls validates the kernel parameters of a pod. p is the path of the list.
func validateSysctls(spec *corev1.PodSpec, opts PodValidationOptions, p *validate.Path) (errs field.ErrorList) {
	sysctls := spec.SecurityContext.Sysctls
	if len(sysctls) == 0 {
		return nil
	}
	var names smallSet[string]
	for i := range sysctls {
		name, at := sysctls[i].Name, p.Index(i).Child("name")
		switch {
		case name == "":
			errs = append(errs, at.Required(""))
		case !isSysctlName(name):
			errs = append(errs, at.Invalid(name, fmt.Sprintf("must have at most %d characters and match regex %s", maxSysctlNameLength, sysctlNameRegexp)))
		case names.has(name):
			errs = append(errs, at.Duplicate(name))
		}
		names.add(name)
		if namespace := hostNamespaceOfSysctl(name, spec); namespace != "" && !opts.allow.hostSysctls {
			errs = append(errs, at.Invalid(name, "may not be specified when '"+namespace+"' is true"))
		}
	}
	return errs
}

// hostNamespaceOfSysctl returns the field by which a pod uses the namespace of the host that a
// parameter is in, "" if it does not use it.
func hostNamespaceOfSysctl(name string, spec *corev1.PodSpec) string {
	switch namespace, _, _ := utilsysctl.GetNamespace(name); {
	case namespace == utilsysctl.NetNamespace && spec.HostNetwork:
		return "hostNetwork"
	case namespace == utilsysctl.IPCNamespace && spec.HostIPC:
		return "hostIPC"
	}
	return ""
}

const (
	maxSysctlNameLength = 253
	// sysctlNameRegexp is what isSysctlName checks, in the text of its error.
	sysctlNameRegexp = `^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`
)

// isSysctlName reports whether a name consists of segments that are separated by dots or slashes.
func isSysctlName(name string) bool {
	if len(name) > maxSysctlNameLength {
		return false
	}
	afterSegment := false
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			afterSegment = true
		case c == '-' || c == '_':
			if i == 0 || name[i-1] == '.' || name[i-1] == '/' {
				return false
			}
			afterSegment = false
		case (c == '.' || c == '/') && afterSegment:
			afterSegment = false
		default:
			return false
		}
	}
	return afterSegment
}

// validateHostProcess validates that all containers of a pod for Windows are processes of the host,
// or none. p is the path of the spec.
func validateHostProcess(spec *corev1.PodSpec, p *validate.Path) (errs field.ErrorList) {
	var ofPod *bool
	if sc := spec.SecurityContext; sc != nil && sc.WindowsOptions != nil {
		ofPod = sc.WindowsOptions.HostProcess
	}
	hostProcesses := 0
	for i := range containerCount(spec) {
		c, list, index := containerAt(spec, i)
		ofContainer := hostProcess(c)
		if ofPod != nil && ofContainer != nil && *ofPod != *ofContainer {
			at := p.Child(list).Index(index).Child("securityContext").Child("windowsOptions").Child("hostProcess")
			errs = append(errs, at.Invalid(*ofContainer, fmt.Sprintf("pod hostProcess value must be identical if both are specified, was %v", *ofPod)))
		}
		if ofContainer != nil && *ofContainer || ofContainer == nil && ofPod != nil && *ofPod {
			hostProcesses++
		}
	}
	if hostProcesses == 0 {
		return errs
	}
	if hostProcesses != containerCount(spec) {
		errs = append(errs, p.Invalid("", "If pod contains any hostProcess containers then all containers must be HostProcess containers"))
	}
	if !spec.HostNetwork {
		errs = append(errs, p.Child("hostNetwork").Invalid(spec.HostNetwork, "hostNetwork must be true if pod contains any hostProcess containers"))
	}
	return errs
}

func hostProcess(c *corev1.Container) *bool {
	if c.SecurityContext == nil || c.SecurityContext.WindowsOptions == nil {
		return nil
	}
	return c.SecurityContext.WindowsOptions.HostProcess
}

// validateHostUsers validates what a pod with its own user namespace must not have. p is the path
// of the spec.
func validateHostUsers(spec *corev1.PodSpec, opts PodValidationOptions, p *validate.Path) (errs field.ErrorList) {
	if !hasUserNamespace(spec) {
		return nil
	}
	const message = "when `hostUsers` is false"
	if spec.HostNetwork && !opts.allow.hostNetworkWithoutHostUsers {
		errs = append(errs, p.Child("hostNetwork").Forbidden(message))
	}
	if spec.HostPID {
		errs = append(errs, p.Child("HostPID").Forbidden(message))
	}
	if spec.HostIPC {
		errs = append(errs, p.Child("HostIPC").Forbidden(message))
	}
	if opts.allow.devicesWithoutHostUsers {
		return errs
	}
	for i := range containerCount(spec) {
		if c, list, index := containerAt(spec, i); len(c.VolumeDevices) > 0 {
			errs = append(errs, p.Child(list).Index(index).Child("volumeDevices").Forbidden(message))
		}
	}
	return errs
}

// hasUserNamespace reports whether a pod has its own user namespace.
func hasUserNamespace(spec *corev1.PodSpec) bool { return spec.HostUsers != nil && !*spec.HostUsers }

// validateOS validates the operating system of a pod, and that its fields are those of that system.
// p is the path of the spec.
func validateOS(spec *corev1.PodSpec, p *validate.Path) field.ErrorList {
	if spec.OS == nil {
		return nil
	}
	switch spec.OS.Name {
	case corev1.Linux:
		return validateLinux(spec, p)
	case corev1.Windows:
		return validateWindows(spec, p)
	case "":
		return field.ErrorList{p.Child("os").Child("name").Required("cannot be empty")}
	}
	return field.ErrorList{validate.NotSupported(p.Child("os"), spec.OS.Name, corev1.Linux, corev1.Windows)}
}

func validateLinux(spec *corev1.PodSpec, p *validate.Path) (errs field.ErrorList) {
	const message = "windows options cannot be set for a linux pod"
	if sc := spec.SecurityContext; sc != nil && sc.WindowsOptions != nil {
		errs = append(errs, p.Child("securityContext").Child("windowsOptions").Forbidden(message))
	}
	for i := range containerCount(spec) {
		c, list, index := containerAt(spec, i)
		if sc := c.SecurityContext; sc != nil && sc.WindowsOptions != nil {
			errs = append(errs, p.Child(list).Index(index).Child("securityContext").Child("windowsOptions").Forbidden(message))
		}
	}
	return errs
}

func validateWindows(spec *corev1.PodSpec, p *validate.Path) (errs field.ErrorList) {
	if sc := spec.SecurityContext; sc != nil {
		at := p.Child("securityContext")
		errs = appendIfForbidden(errs, sc.AppArmorProfile != nil, at, "appArmorProfile")
		errs = appendIfForbidden(errs, sc.SELinuxOptions != nil, at, "seLinuxOptions")
		errs = appendIfForbidden(errs, sc.SeccompProfile != nil, at, "seccompProfile")
		errs = appendIfForbidden(errs, sc.FSGroup != nil, at, "fsGroup")
		errs = appendIfForbidden(errs, sc.FSGroupChangePolicy != nil, at, "fsGroupChangePolicy")
		errs = appendIfForbidden(errs, len(sc.Sysctls) > 0, at, "sysctls")
		errs = appendIfForbidden(errs, sc.RunAsUser != nil, at, "runAsUser")
		errs = appendIfForbidden(errs, sc.RunAsGroup != nil, at, "runAsGroup")
		errs = appendIfForbidden(errs, sc.SupplementalGroups != nil, at, "supplementalGroups")
		errs = appendIfForbidden(errs, sc.SupplementalGroupsPolicy != nil, at, "supplementalGroupsPolicy")
		errs = appendIfForbidden(errs, sc.SELinuxChangePolicy != nil, at, "seLinuxChangePolicy")
	}
	errs = appendIfForbidden(errs, spec.HostUsers != nil, p, "hostUsers")
	errs = appendIfForbidden(errs, spec.HostPID, p, "hostPID")
	errs = appendIfForbidden(errs, spec.HostIPC, p, "hostIPC")
	errs = appendIfForbidden(errs, spec.ShareProcessNamespace != nil, p, "shareProcessNamespace")
	for i := range containerCount(spec) {
		c, list, index := containerAt(spec, i)
		sc, at := c.SecurityContext, p.Child(list).Index(index).Child("securityContext")
		if sc == nil {
			continue
		}
		errs = appendIfForbidden(errs, sc.AppArmorProfile != nil, at, "appArmorProfile")
		errs = appendIfForbidden(errs, sc.SELinuxOptions != nil, at, "seLinuxOptions")
		errs = appendIfForbidden(errs, sc.SeccompProfile != nil, at, "seccompProfile")
		errs = appendIfForbidden(errs, sc.Capabilities != nil, at, "capabilities")
		errs = appendIfForbidden(errs, sc.ReadOnlyRootFilesystem != nil, at, "readOnlyRootFilesystem")
		errs = appendIfForbidden(errs, sc.Privileged != nil, at, "privileged")
		errs = appendIfForbidden(errs, sc.AllowPrivilegeEscalation != nil, at, "allowPrivilegeEscalation")
		errs = appendIfForbidden(errs, sc.ProcMount != nil, at, "procMount")
		errs = appendIfForbidden(errs, sc.RunAsUser != nil, at, "runAsUser")
		errs = appendIfForbidden(errs, sc.RunAsGroup != nil, at, "runAsGroup")
	}
	return errs
}

// appendIfForbidden appends the error for a field of p that a pod for Windows has.
func appendIfForbidden(errs field.ErrorList, has bool, p *validate.Path, name string) field.ErrorList {
	if !has {
		return errs
	}
	return append(errs, p.Child(name).Forbidden("cannot be set for a windows pod"))
}
