package resource

import (
	"fmt"
	"slices"
	"strings"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// finalizerWarnings returns the warnings for each finalizer of a custom resource that is not in old
// and not domain-qualified (MD-23). All of them are valid.
func finalizerWarnings(finalizers, old []string) []string {
	added := slices.DeleteFunc(slices.Clone(finalizers), func(name string) bool { return slices.Contains(old, name) })
	slices.Sort(added)
	var texts []string
	for _, name := range slices.Compact(added) {
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
