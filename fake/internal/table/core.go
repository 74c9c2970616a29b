package table

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

func corePrinters() []entry {
	gv := corev1.SchemeGroupVersion
	return []entry{
		newEntry(gv, func(c *corev1.ConfigMap) []any {
			return []any{c.Name, len(c.Data) + len(c.BinaryData), since(c.CreationTimestamp)}
		}, named(), text("Data", describes(corev1.ConfigMap{}, "data")), age()),

		newEntry(gv, func(s *corev1.ComponentStatus) []any {
			return append([]any{s.Name}, healthOf(s)...)
		},
			named(),
			text("Status", "Status of the component conditions"),
			text("Message", "Message of the component conditions"),
			text("Error", "Error of the component conditions"),
		),

		newEntry(gv, func(s *corev1.Secret) []any {
			return []any{s.Name, orDefault(s.Type, string(corev1.SecretTypeOpaque)), len(s.Data), since(s.CreationTimestamp)}
		}, named(), text("Type", describes(corev1.Secret{}, "type")), text("Data", describes(corev1.Secret{}, "data")), age()),

		newEntry(gv, func(n *corev1.Namespace) []any {
			return []any{n.Name, string(n.Status.Phase), since(n.CreationTimestamp)}
		}, named(), text("Status", "The status of the namespace"), age()),

		newEntry(gv, func(s *corev1.ServiceAccount) []any {
			return []any{s.Name, since(s.CreationTimestamp)}
		}, named(), age()),

		newEntry(gv, quotaCells,
			named(),
			text("Request", "Request represents a minimum amount of cpu/memory that a container may consume."),
			text("Limit", "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node."),
			age(),
		),
	}
}

// quotaCells returns the used and hard amounts of a quota, with limits in a column of their own.
func quotaCells(q *corev1.ResourceQuota) []any {
	var requests, limits []string
	for _, name := range slices.Sorted(maps.Keys(q.Status.Hard)) {
		used, hard := q.Status.Used[name], q.Status.Hard[name]
		line := fmt.Sprintf("%s: %s/%s", name, used.String(), hard.String())
		if strings.HasPrefix(string(name), "limits.") {
			limits = append(limits, line)
		} else {
			requests = append(requests, line)
		}
	}
	return []any{q.Name, strings.Join(requests, ", "), strings.Join(limits, ", "), since(q.CreationTimestamp)}
}

// healthOf returns the status, the message and the error of a component.
func healthOf(s *corev1.ComponentStatus) []any {
	for _, c := range s.Conditions {
		switch {
		case c.Type != corev1.ComponentHealthy:
		case c.Status == corev1.ConditionTrue:
			return []any{"Healthy", c.Message, c.Error}
		default:
			return []any{"Unhealthy", c.Message, c.Error}
		}
	}
	return []any{"Unknown", "", ""}
}
