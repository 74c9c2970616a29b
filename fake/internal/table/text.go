package table

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// What cells say where there is nothing.
const (
	none    = "<none>"
	unset   = "<unset>"
	unknown = "<unknown>"
)

// orDefault is a text, or another for an empty one.
func orDefault[T ~string](s T, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return string(s)
}

// deref is what a pointer points at, or a default.
func deref[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// firstN joins the first of the texts and counts the rest.
func firstN(all []string, most int, separator string) string {
	if len(all) <= most {
		return strings.Join(all, separator)
	}
	return fmt.Sprintf("%s + %d more...", strings.Join(all[:most], separator), len(all)-most)
}

// containers are the cells of containerColumns.
func containers(t *corev1.PodTemplateSpec) []any {
	if t == nil {
		return []any{"", ""}
	}
	var names, images []string
	for i := range t.Spec.Containers {
		names = append(names, t.Spec.Containers[i].Name)
		images = append(images, t.Spec.Containers[i].Image)
	}
	return []any{strings.Join(names, ","), strings.Join(images, ",")}
}

// boolText is a Boolean in words.
func boolText(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
