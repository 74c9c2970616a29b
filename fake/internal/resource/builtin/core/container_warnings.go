package core

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// A server compares all ports, and all paths of files, for warnings, but sends only the first 4096
// characters of them. Here the work is limited, too.
const (
	maxComparisons = 100_000
	maxWarnings    = 100
)

// containerWarnings returns the warnings for the containers of a pod or a template with
// annotations. p is its path, which is nil for a pod.
func containerWarnings(spec *corev1.PodSpec, annotations map[string]string, p *validate.Path) (warnings []string) {
	var buf [16]placedPort
	ports, at := buf[:0], p.Child("spec")
	if !hasKeyWithPrefix(annotations, seccompContainerAnnotation) && !hasKeyWithPrefix(annotations, appArmorContainerAnnotation) {
		annotations = nil // none is for a container
	}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		warnings = append(warnings, profileAnnotationWarnings(spec, c, annotations, p)...)
		warnings = append(warnings, resourceAndEnvWarnings(c, at.Child("initContainers").Index(i))...)
		ports = appendPlacedPorts(ports, c.Ports, "initContainers", i)
	}
	for i := range spec.Containers {
		c := &spec.Containers[i]
		warnings = append(warnings, profileAnnotationWarnings(spec, c, annotations, p)...)
		warnings = append(warnings, resourceAndEnvWarnings(c, at.Child("containers").Index(i))...)
		ports = appendPlacedPorts(ports, c.Ports, "containers", i)
	}
	for i := range spec.EphemeralContainers {
		c := asContainer(&spec.EphemeralContainers[i])
		warnings = append(warnings, profileAnnotationWarnings(spec, c, annotations, p)...)
		warnings = append(warnings, resourceAndEnvWarnings(c, at.Child("ephemeralContainers").Index(i))...)
		ports = appendPlacedPorts(ports, c.Ports, "ephemeralContainers", i)
	}
	warnings = append(warnings, portWarnings(ports, at)...)
	return append(warnings, portNameWarnings(ports, at)...)
}

// profileAnnotationWarnings returns the warnings for profiles of a container in annotations only.
// The AppArmor profiles of a pod, which has no path, are copied, see copyAppArmorAnnotations.
func profileAnnotationWarnings(spec *corev1.PodSpec, c *corev1.Container, annotations map[string]string, p *validate.Path) (warnings []string) {
	if len(annotations) == 0 {
		return nil
	}
	at := p.Child("metadata").Child("annotations")
	if c.SecurityContext == nil || c.SecurityContext.SeccompProfile == nil {
		warnings = seccompAnnotationWarnings(seccompContainerAnnotation+c.Name, annotations, at)
	}
	if p == nil || effectiveAppArmorProfile(spec, c) != nil {
		return warnings
	}
	key := appArmorContainerAnnotation + c.Name
	if _, ok := annotations[key]; ok {
		warnings = append(warnings, appArmorAnnotationWarning(key, at))
	}
	return warnings
}

// seccompAnnotationWarnings returns the warning for an annotation with a seccomp profile, if it
// exists. p is the path of the annotations.
func seccompAnnotationWarnings(key string, annotations map[string]string, p *validate.Path) []string {
	if _, ok := annotations[key]; !ok {
		return nil
	}
	return []string{p.Key(key).String() + `: non-functional in v1.27+; use the "seccompProfile" field instead`}
}

func resourceAndEnvWarnings(c *corev1.Container, p *validate.Path) (warnings []string) {
	limits, requests := p.Child("resources").Child("limits"), p.Child("resources").Child("requests")
	for _, name := range [...]corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		warnings = append(warnings, fractionalResourceWarnings(c.Resources.Limits, name, limits)...)
		warnings = append(warnings, fractionalResourceWarnings(c.Resources.Requests, name, requests)...)
	}
	return append(warnings, envWarnings(c.Env, p.Child("env"))...)
}

// fractionalResourceWarnings returns the warning for a quantity that is not a whole number of
// bytes.
func fractionalResourceWarnings(list corev1.ResourceList, name corev1.ResourceName, p *validate.Path) []string {
	quantity, ok := list[name]
	if !ok || isInteger(quantity) {
		return nil
	}
	return []string{fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer", p.Key(string(name)).String(), quantity.String())}
}

// envWarnings returns the warnings for variables that occur again, unless the new value refers to
// the old one.
func envWarnings(env []corev1.EnvVar, p *validate.Path) (warnings []string) {
	var names smallSet[string]
	for i := range env {
		if names.add(env[i].Name) {
			continue
		}
		ref := "$(" + env[i].Name + ")"
		if env[i].ValueFrom != nil || env[i].Value == ref || !strings.Contains(env[i].Value, ref) {
			warnings = append(warnings, fmt.Sprintf("%s: hides previous definition of %q, which may be dropped when using apply", p.Index(i).String(), env[i].Name))
		}
	}
	return warnings
}

// placedPort is a port of a container of a pod.
type placedPort struct {
	*corev1.ContainerPort
	list             string // the list of the container
	container, index int
}

func appendPlacedPorts(to []placedPort, ports []corev1.ContainerPort, list string, container int) []placedPort {
	for i := range ports {
		to = append(to, placedPort{&ports[i], list, container, i})
	}
	return to
}

// text returns the path of a port. p is the path of the spec.
func (a *placedPort) text(p *validate.Path) string {
	return p.Child(a.list).Index(a.container).Child("ports").Index(a.index).String()
}

// portWarnings returns the warnings for ports that are defined twice.
func portWarnings(ports []placedPort, p *validate.Path) (warnings []string) {
	compared := 0
	for i := range ports {
		port := &ports[i]
		if port.HostIP != "" && port.HostPort == 0 {
			warnings = append(warnings, fmt.Sprintf("%s: hostIP set without hostPort: %+v", port.text(p), *port.ContainerPort))
		}
		for j := range ports[:i] {
			if compared++; compared > maxComparisons || len(warnings) >= maxWarnings {
				return warnings
			}
			if conflict := portConflict(port.ContainerPort, ports[j].ContainerPort); conflict != "" {
				warnings = append(warnings, fmt.Sprintf("%s: %s port definition with %s", port.text(p), conflict, ports[j].text(p)))
			}
		}
	}
	return warnings
}

// portConflict returns how two ports are the same, "" if they are not.
func portConflict(a, b *corev1.ContainerPort) string {
	switch {
	case a.ContainerPort != b.ContainerPort || a.Protocol != b.Protocol:
		return ""
	case a.HostIP == b.HostIP && a.HostPort == b.HostPort:
		return "duplicate"
	case a.HostPort == 0 || b.HostPort == 0:
		return "overlapping"
	case a.HostPort == b.HostPort && (a.HostIP == "" || b.HostIP == ""):
		return "dangerously ambiguous"
	}
	return ""
}

// portNameWarnings returns the warnings for ports that have the name of another one.
func portNameWarnings(ports []placedPort, p *validate.Path) (warnings []string) {
	var names smallSet[string]
	for i := range ports {
		name := ports[i].Name
		if name == "" || names.add(name) {
			continue
		}
		first := slices.IndexFunc(ports, func(other placedPort) bool { return other.Name == name })
		path := ports[first].text(p)
		warnings = append(warnings, fmt.Sprintf("%s: duplicate port name %q with %s, services and probes that select ports by name will use %s",
			ports[i].text(p), name, path, path))
		if len(warnings) >= maxWarnings {
			break
		}
	}
	return warnings
}
