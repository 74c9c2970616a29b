package httpdiff

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// Canonicalizer normalizes values before they are compared.
type Canonicalizer struct {
	ignored  [][]string // paths of fields, split into keys
	managers bool       // sort managedFields
}

// NewCanonicalizer returns a Canonicalizer that removes the fields with these dotted paths.
func NewCanonicalizer(ignored []string) Canonicalizer {
	var c Canonicalizer
	for _, path := range ignored {
		c.ignored = append(c.ignored, strings.Split(path, "."))
	}
	return c
}

// SortingManagers returns a Canonicalizer that also sorts managedFields by everything but their
// times. Servers sort them by time in seconds, so their order is not deterministic.
func (c Canonicalizer) SortingManagers() Canonicalizer {
	c.managers = true
	return c
}

// Body returns a copy of v without the ignored fields. It sorts the lists that API servers return
// in random order.
func (c Canonicalizer) Body(v any) any {
	v = runtime.DeepCopyJSONValue(v)
	c.drop(v)
	sortLists(v)
	return v
}

// Event is like Body for a watch event.
func (c Canonicalizer) Event(v any) any {
	v = runtime.DeepCopyJSONValue(v)
	c.drop(v)
	if event, ok := v.(map[string]any); ok {
		sortLists(event["object"])
	}
	return v
}

// drop removes the ignored fields at any depth of v, and sorts managedFields.
func (c Canonicalizer) drop(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, path := range c.ignored {
			remove(v, path)
		}
		if entries, ok := v["managedFields"].([]any); ok && c.managers {
			sortBy(entries, managerKey)
		}
		for _, x := range v {
			c.drop(x)
		}
	case []any:
		for _, x := range v {
			c.drop(x)
		}
	}
}

func remove(m map[string]any, path []string) {
	for _, k := range path[:len(path)-1] {
		inner, ok := m[k].(map[string]any)
		if !ok {
			return
		}
		m = inner
	}
	delete(m, path[len(path)-1])
}

// sortLists sorts the causes of a Status and the resources of discovery documents.
func sortLists(v any) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	switch m["kind"] {
	case "APIResourceList", "APIGroupDiscoveryList":
		sortResources(m)
	case "Status":
		sortCauses(m)
	}
}

func sortResources(v any) {
	switch v := v.(type) {
	case map[string]any:
		if resources, ok := v["resources"].([]any); ok {
			sortBy(resources, func(x any) string {
				m, _ := x.(map[string]any)
				return fmt.Sprint(m["name"], m["resource"])
			})
		}
		for _, x := range v {
			sortResources(x)
		}
	case []any:
		for _, x := range v {
			sortResources(x)
		}
	}
}

// sortCauses sorts the causes of a Status, and the list of them in its message.
func sortCauses(status map[string]any) {
	if details, ok := status["details"].(map[string]any); ok {
		if causes, ok := details["causes"].([]any); ok {
			sortBy(causes, jsonText)
		}
	}
	const before = "is invalid: ["
	message, _ := status["message"].(string)
	if begin, list, ok := strings.Cut(message, before); ok {
		parts := strings.Split(strings.TrimSuffix(list, "]"), ", ")
		slices.Sort(parts)
		status["message"] = begin + before + strings.Join(parts, ", ") + "]"
	}
}

// managerKey returns an entry of managedFields as text, without its time.
func managerKey(entry any) string {
	m, _ := entry.(map[string]any)
	return jsonText([]any{m["operation"], m["manager"], m["subresource"], m["apiVersion"]})
}

func sortBy(list []any, key func(any) string) {
	slices.SortStableFunc(list, func(a, b any) int { return strings.Compare(key(a), key(b)) })
}
