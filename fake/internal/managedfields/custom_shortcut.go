package managedfields

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// customShortcut is shortcut for a custom resource, for the same reasons: it gives the
// entries as they stand in the object, and shares with live those that stay as they are.
// Objects of another version than the tracker's are left to the library, which has them
// converted.
func (t *FieldManager) customShortcut(live runtime.Object, obj *unstructured.Unstructured, manager string) ([]any, bool) {
	if t.whole == nil || !t.isOf(live) || !t.isOf(obj) {
		return nil, false
	}
	after, ok := obj.Object["metadata"].(map[string]any)
	if !ok {
		return nil, false
	}
	before, _ := live.(*unstructured.Unstructured)
	raw, tracked, ok := t.customSource(before, after)
	if !ok || !tracked {
		return nil, ok
	}
	if before == nil {
		before = t.empty.(*unstructured.Unstructured)
	}
	nodes := newNodeArena()
	touched, ok := customDifferences(t.writable, before.Object, obj.Object, nodes)
	if !ok {
		return nil, false
	}
	owners, ok := t.parseCustom(raw, touched, nodes)
	if !ok {
		return nil, false
	}
	writer := t.writer(manager)
	if !utf8.ValidString(writer.Manager) {
		return nil, false
	}
	if len(touched) == 0 && updates(owners) <= maxUpdates && inOrderAlready(owners) {
		return raw, true
	}
	if owners = settle(owners, touched, writer); updates(owners) > maxUpdates {
		return nil, false
	}
	return writeCustom(owners)
}

// isOf reports whether an object, if there is one, is of the tracker's version: the library
// finds its schema by that.
func (t *FieldManager) isOf(obj runtime.Object) bool {
	if obj == nil {
		return true
	}
	u, ok := obj.(*unstructured.Unstructured)
	return ok && u.GroupVersionKind() == t.kind
}

// customSource is source for metadata in JSON.
func (t *FieldManager) customSource(live *unstructured.Unstructured, after map[string]any) (entries []any, tracked, ok bool) {
	sent, isSent := after["managedFields"]
	list, isList := sent.([]any)
	if live == nil {
		return nil, true, !isSent || isList && len(list) == 0
	}
	before, ok := live.Object["metadata"].(map[string]any)
	if !ok {
		return nil, false, false
	}
	stored, isStored := before["managedFields"]
	if entries, ok = stored.([]any); isStored && !ok {
		return nil, false, false
	}
	if t.subresource == "" && isSent && (!isList || len(list) == 0 || !sameJSON(sent, stored)) {
		return nil, false, false
	}
	return entries, len(entries) > 0 || live.GetUID() == "", true
}

// parseCustom reads the entries for a write.
func (t *FieldManager) parseCustom(entries []any, touched []node, nodes *nodeArena) ([]owner, bool) {
	owners := make([]owner, 0, len(entries)+1)
	version := t.kind.GroupVersion().String()
	for _, one := range entries {
		raw, ok := one.(map[string]any)
		if !ok {
			return nil, false
		}
		e, ok := entryOf(raw)
		known := e.Operation == metav1.ManagedFieldsOperationApply || e.Operation == metav1.ManagedFieldsOperationUpdate
		if !ok || !known || e.APIVersion != version || e.FieldsType != fieldsType || !utf8.ValidString(e.Manager+e.Subresource) {
			return nil, false
		}
		if slices.ContainsFunc(owners, func(o owner) bool { return sameOwner(&o.entry, &e) }) {
			return nil, false
		}
		fields, ok := appendFields(make([]byte, 0, 512), raw["fieldsV1"])
		if !ok {
			return nil, false
		}
		set, ok := parse(t.whole, string(fields), touched, nodes)
		if !ok {
			return nil, false
		}
		owners = append(owners, owner{entry: e, set: set, raw: raw})
	}
	return owners, true
}

// entryOf reads an entry as the library would write it, but for its fields.
func entryOf(raw map[string]any) (e metav1.ManagedFieldsEntry, ok bool) {
	for name, value := range raw {
		text, isText := value.(string)
		if name != "fieldsV1" && (!isText || text == "") {
			return e, false
		}
		switch name {
		case "manager":
			e.Manager = text
		case "operation":
			e.Operation = metav1.ManagedFieldsOperationType(text)
		case "apiVersion":
			e.APIVersion = text
		case "fieldsType":
			e.FieldsType = text
		case "subresource":
			e.Subresource = text
		case "time":
			t, err := time.Parse(time.RFC3339, text)
			if err != nil || t.IsZero() || t.UTC().Format(time.RFC3339) != text {
				return e, false
			}
			e.Time = &metav1.Time{Time: t}
		case "fieldsV1":
		default:
			return e, false
		}
	}
	return e, true
}

// appendFields spells a set that was decoded as FieldsV1 again, with its keys in the order
// of their bytes. Nearly always that is the library's; otherwise parse will not have it.
func appendFields(b []byte, set any) ([]byte, bool) {
	fields, ok := set.(map[string]any)
	if !ok {
		return nil, false
	}
	var few [16]string
	names := few[:0]
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		if strings.IndexByte(name, '"') < 0 {
			b = append(b, name...)
		} else {
			b = append(b, strings.ReplaceAll(name, `"`, quote)...)
		}
		b = append(b, '"', ':')
		if b, ok = appendFields(b, fields[name]); !ok {
			return nil, false
		}
	}
	return append(b, '}'), true
}

// inOrderAlready reports whether entries stand in the order in which the library writes
// them.
func inOrderAlready(owners []owner) bool {
	return slices.IsSortedFunc(owners, func(a, b owner) int { return inOrderOf(a.entry, b.entry) })
}

// writeCustom gives the entries in order, as they stand in an object.
func writeCustom(owners []owner) ([]any, bool) {
	slices.SortFunc(owners, func(a, b owner) int { return inOrderOf(a.entry, b.entry) })
	entries := make([]any, len(owners))
	for i := range owners {
		o := &owners[i]
		if !o.stale {
			entries[i] = o.raw
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(encode(o.set), &fields); err != nil {
			return nil, false // it is ours, and JSON
		}
		raw := maps.Clone(o.raw)
		if raw == nil {
			raw = rawOf(&o.entry)
		}
		raw["fieldsV1"] = fields
		entries[i] = raw
	}
	return entries, true
}

// rawOf gives an entry as it stands in an object.
func rawOf(e *metav1.ManagedFieldsEntry) map[string]any {
	raw := map[string]any{
		"manager": e.Manager, "operation": string(e.Operation), "apiVersion": e.APIVersion,
		"time": e.Time.UTC().Format(time.RFC3339), "fieldsType": e.FieldsType,
	}
	if e.Subresource != "" {
		raw["subresource"] = e.Subresource
	}
	return raw
}

// setEntries puts entries into an object that has metadata.
func setEntries(obj *unstructured.Unstructured, entries []any) {
	metadata, ok := obj.Object["metadata"].(map[string]any)
	switch {
	case !ok:
	case len(entries) == 0:
		delete(metadata, "managedFields")
	default:
		metadata["managedFields"] = entries
	}
}
