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

// containerWarnings returns the warnings for the containers of a pod or a template. p is the path of
// the spec. Those for annotations of containers are among the warnings for pods.
func containerWarnings(spec *corev1.PodSpec, p *validate.Path) (warnings []string) {
	var buf [16]placedPort
	ports := buf[:0]
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		warnings = append(warnings, resourceAndEnvWarnings(c, p.Child("initContainers").Index(i))...)
		ports = appendPlacedPorts(ports, c.Ports, "initContainers", i)
	}
	for i := range spec.Containers {
		c := &spec.Containers[i]
		warnings = append(warnings, resourceAndEnvWarnings(c, p.Child("containers").Index(i))...)
		ports = appendPlacedPorts(ports, c.Ports, "containers", i)
	}
	for i := range spec.EphemeralContainers {
		c := asContainer(&spec.EphemeralContainers[i])
		warnings = append(warnings, resourceAndEnvWarnings(c, p.Child("ephemeralContainers").Index(i))...)
		ports = appendPlacedPorts(ports, c.Ports, "ephemeralContainers", i)
	}
	warnings = append(warnings, portWarnings(ports, p)...)
	return append(warnings, portNameWarnings(ports, p)...)
}

func resourceAndEnvWarnings(c *corev1.Container, p *validate.Path) (warnings []string) {
	limits, requests := p.Child("resources").Child("limits"), p.Child("resources").Child("requests")
	for _, name := range [...]corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		warnings = append(warnings, fractionalResourceWarnings(c.Resources.Limits, name, limits)...)
		warnings = append(warnings, fractionalResourceWarnings(c.Resources.Requests, name, requests)...)
	}
	return append(warnings, envWarnings(c.Env, p.Child("env"))...)
}

// fractionalResourceWarnings returns the warning for a quantity that is not a whole number of bytes.
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
