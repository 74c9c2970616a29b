package table

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The texts of empty cells.
const (
	none    = "<none>"
	unset   = "<unset>"
	unknown = "<unknown>"
)

// orDefault returns a text, or otherwise if it is empty.
func orDefault[T ~string](s T, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return string(s)
}

// firstN joins the first texts and appends the number of the others.
func firstN(all []string, most int, separator string) string {
	if len(all) <= most {
		return strings.Join(all, separator)
	}
	return fmt.Sprintf("%s + %d more...", strings.Join(all[:most], separator), len(all)-most)
}

// containers returns the cells of containerColumns.
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

// boolText returns True or False.
func boolText(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
