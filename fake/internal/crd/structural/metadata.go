package structural

import (
	"maps"
	"slices"
	"time"
)

// isCanonicalMetadata reports whether metadata is such that reading it as an ObjectMeta and
// writing it again changes nothing, which costs more than all else that is done to a
// small object. It says no when in doubt.
func isCanonicalMetadata(metadata any, generation bool) bool {
	m, ok := metadata.(map[string]any)
	if !ok {
		return false
	}
	for name, value := range m {
		if !isCanonicalField(name, value) {
			return false
		}
	}
	return !generation || m["generation"] != nil
}

// isCanonicalField is formed for one field. Empty values are dropped in writing.
func isCanonicalField(name string, value any) bool {
	switch name {
	case "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion":
		return isNonEmptyString(value)
	case "generation":
		n, ok := value.(int64)
		return ok && n != 0
	case "creationTimestamp", "deletionTimestamp":
		return isCanonicalTime(value)
	case "labels", "annotations":
		m, ok := value.(map[string]any)
		return ok && len(m) > 0 && !slices.ContainsFunc(slices.Collect(maps.Values(m)), notString)
	case "finalizers":
		list, ok := value.([]any)
		return ok && len(list) > 0 && !slices.ContainsFunc(list, notString)
	case "managedFields":
		return allObjects(value, isCanonicalManagedFieldsEntry)
	case "ownerReferences":
		return allObjects(value, isCanonicalOwnerReference)
	}
	return false
}

// allObjects reports whether a value is a list that is not empty, and of objects that pass.
func allObjects(value any, pass func(map[string]any) bool) bool {
	list, ok := value.([]any)
	return ok && len(list) > 0 && !slices.ContainsFunc(list, func(item any) bool {
		m, ok := item.(map[string]any)
		return !ok || !pass(m)
	})
}

// isCanonicalManagedFieldsEntry is isCanonicalField for an entry of managedFields.
func isCanonicalManagedFieldsEntry(entry map[string]any) bool {
	for name, value := range entry {
		switch name {
		case "manager", "operation", "apiVersion", "fieldsType", "subresource":
			if !isNonEmptyString(value) {
				return false
			}
		case "time":
			if !isCanonicalTime(value) {
				return false
			}
		case "fieldsV1":
			if _, ok := value.(map[string]any); !ok {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// isCanonicalOwnerReference is isCanonicalField for an owner reference, whose fields are written even if they
// are empty.
func isCanonicalOwnerReference(reference map[string]any) bool {
	for _, name := range []string{"apiVersion", "kind", "name", "uid"} {
		if notString(reference[name]) {
			return false
		}
	}
	for name, value := range reference {
		switch name {
		case "apiVersion", "kind", "name", "uid":
		case "controller", "blockOwnerDeletion":
			if _, ok := value.(bool); !ok {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func notString(value any) bool {
	_, ok := value.(string)
	return !ok
}

// isNonEmptyString is a string that is not empty.
func isNonEmptyString(value any) bool {
	s, ok := value.(string)
	return ok && s != ""
}

// isCanonicalTime is a time in the form in which it is written, and not the zero one.
func isCanonicalTime(value any) bool {
	s, ok := value.(string)
	if !ok {
		return false
	}
	t, err := time.Parse(time.RFC3339, s)
	return err == nil && !t.IsZero() && t.UTC().Format(time.RFC3339) == s
}
