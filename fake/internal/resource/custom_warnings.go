package resource

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// finalizerWarnings returns the warnings for each finalizer of a custom resource that is not in old
// and not domain-qualified (MD-23).
func finalizerWarnings(finalizers, old []string) []string {
	added := slices.DeleteFunc(slices.Clone(finalizers), func(name string) bool { return slices.Contains(old, name) })
	slices.Sort(added)
	var texts []string
	for _, name := range slices.Compact(added) {
		for _, problem := range validation.IsQualifiedName(name) {
			texts = append(texts, fmt.Sprintf("metadata.finalizers: %q: %s", name, problem))
		}
		if validate.IsQualifiedFinalizer(name) {
			continue
		}
		suggestion := "name"
		if strings.Contains(name, ".") {
			suggestion = "name including a path (/)"
		}
		texts = append(texts, fmt.Sprintf("metadata.finalizers: %q: prefer a domain-qualified finalizer %s to avoid accidental conflicts with other finalizer writers", name, suggestion))
	}
	return texts
}
