package table

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The labels of node roles.
const (
	rolePrefix = "node-role.kubernetes.io/"
	roleLabel  = "kubernetes.io/role"
)

func nodePrinters() []entry {
	return []entry{newEntry(corev1.SchemeGroupVersion, nodeCells,
		named(),
		text("Status", "The status of the node"),
		text("Roles", "The roles of the node"),
		age(),
		text("Version", describes(corev1.NodeSystemInfo{}, "kubeletVersion")),
		wide(text("Internal-IP", describes(corev1.NodeStatus{}, "addresses"))),
		wide(text("External-IP", describes(corev1.NodeStatus{}, "addresses"))),
		wide(text("OS-Image", describes(corev1.NodeSystemInfo{}, "osImage"))),
		wide(text("Kernel-Version", describes(corev1.NodeSystemInfo{}, "kernelVersion"))),
		wide(text("Container-Runtime", describes(corev1.NodeSystemInfo{}, "containerRuntimeVersion"))),
	)}
}

func nodeCells(n *corev1.Node) []any {
	info := &n.Status.NodeInfo
	kernel := orDefault(info.KernelVersion, unknown)
	if info.Architecture != "" {
		kernel += " (" + info.Architecture + ")"
	}
	return []any{
		n.Name, nodeStatus(n), orDefault(strings.Join(nodeRoles(n), ","), none), since(n.CreationTimestamp), info.KubeletVersion,
		nodeAddress(n, corev1.NodeInternalIP), nodeAddress(n, corev1.NodeExternalIP),
		orDefault(info.OSImage, unknown), kernel, orDefault(info.ContainerRuntimeVersion, unknown),
	}
}

func nodeStatus(n *corev1.Node) string {
	status := "Unknown"
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			status = "NotReady"
			if c.Status == corev1.ConditionTrue {
				status = "Ready"
			}
		}
	}
	if n.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	return status
}

func nodeRoles(n *corev1.Node) []string {
	var roles []string
	for key, value := range n.Labels {
		role, found := strings.CutPrefix(key, rolePrefix)
		if !found && key == roleLabel {
			role, found = value, true
		}
		if found && role != "" {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	return slices.Compact(roles)
}

func nodeAddress(n *corev1.Node, of corev1.NodeAddressType) string {
	for _, a := range n.Status.Addresses {
		if a.Type == of {
			return a.Address
		}
	}
	return none
}
