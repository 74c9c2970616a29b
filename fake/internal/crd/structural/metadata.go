package structural

import (
	"slices"
	"time"
)

// isCanonicalMetadata reports whether decoding metadata as an ObjectMeta and encoding it again
// changes nothing. This avoids the most expensive step for a small object. It may report false for
// canonical metadata.
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

// isCanonicalField is isCanonicalMetadata for one field. An empty value is not canonical, because
// encoding drops it.
func isCanonicalField(name string, value any) bool {
	switch name {
	case "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion":
		return isNonEmptyString(value)
	case "generation":
		n, ok := value.(int64)
		return ok && n != 0
	case "deletionGracePeriodSeconds":
		_, ok := value.(int64)
		return ok
	case "creationTimestamp", "deletionTimestamp":
		return isCanonicalTime(value)
	case "labels", "annotations":
		m, ok := value.(map[string]any)
		return ok && len(m) > 0 && hasStringValues(m)
	case "finalizers":
		list, ok := value.([]any)
		return ok && len(list) > 0 && !slices.ContainsFunc(list, notString)
	case "managedFields":
		return AreCanonicalManagedFields(value)
	case "ownerReferences":
		return allObjects(value, isCanonicalOwnerReference)
	}
	return false
}

// allObjects reports whether a value is a non-empty list of objects that pass.
func allObjects(value any, pass func(map[string]any) bool) bool {
	list, ok := value.([]any)
	return ok && len(list) > 0 && !slices.ContainsFunc(list, func(item any) bool {
		m, ok := item.(map[string]any)
		return !ok || !pass(m)
	})
}

// AreCanonicalManagedFields reports whether decoding managedFields and encoding them again changes
// nothing. It may report false for canonical ones.
func AreCanonicalManagedFields(value any) bool {
	return allObjects(value, isCanonicalManagedFieldsEntry)
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

// isCanonicalOwnerReference is isCanonicalField for an owner reference, whose required fields are
// encoded even if they are empty.
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

// hasStringValues reports whether all values of an object are strings.
func hasStringValues(m map[string]any) bool {
	for _, value := range m {
		if notString(value) {
			return false
		}
	}
	return true
}

func notString(value any) bool {
	_, ok := value.(string)
	return !ok
}

// isNonEmptyString reports whether a value is a string other than "".
func isNonEmptyString(value any) bool {
	s, ok := value.(string)
	return ok && s != ""
}

// isCanonicalTime reports whether a value is a non-zero time in its encoded form.
func isCanonicalTime(value any) bool {
	s, ok := value.(string)
	if !ok {
		return false
	}
	t, err := time.Parse(time.RFC3339, s)
	var buffer [len(time.RFC3339)]byte
	return err == nil && !t.IsZero() && string(t.UTC().AppendFormat(buffer[:0], time.RFC3339)) == s
}
