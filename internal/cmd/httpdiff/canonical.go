package httpdiff

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// Canonicalizer brings values into the form in which they are compared.
type Canonicalizer struct {
	ignored  [][]string // paths of fields, key by key
	managers bool       // whether managedFields are sorted
}

// NewCanonicalizer takes paths of fields, written with dots.
func NewCanonicalizer(ignored []string) Canonicalizer {
	var c Canonicalizer
	for _, path := range ignored {
		c.ignored = append(c.ignored, strings.Split(path, "."))
	}
	return c
}

// SortingManagers is a Canonizer that also sorts managedFields by everything but their times. Servers sort them by second, and where one
// second ends is chance.
func (c Canonicalizer) SortingManagers() Canonicalizer {
	c.managers = true
	return c
}

// Body is a copy of a body without the ignored fields, and with that in one
// order which API servers order at random.
func (c Canonicalizer) Body(v any) any {
	v = runtime.DeepCopyJSONValue(v)
	c.drop(v)
	sortLists(v)
	return v
}

// Event is the same for a watch event.
func (c Canonicalizer) Event(v any) any {
	v = runtime.DeepCopyJSONValue(v)
	c.drop(v)
	if event, ok := v.(map[string]any); ok {
		sortLists(event["object"])
	}
	return v
}

// drop removes the ignored fields, wherever in v their paths begin, and sorts managedFields.
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

// sortCauses sorts the causes, and what they are called in the message of a
// Status that lists several.
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

// managerKey is an entry of managedFields without its time.
func managerKey(entry any) string {
	m, _ := entry.(map[string]any)
	return jsonText([]any{m["operation"], m["manager"], m["subresource"], m["apiVersion"]})
}

func sortBy(list []any, key func(any) string) {
	slices.SortStableFunc(list, func(a, b any) int { return strings.Compare(key(a), key(b)) })
}
