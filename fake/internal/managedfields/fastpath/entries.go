package fastpath

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// updateTyped is Update for an object of a built-in type.
func (u *Updater) updateTyped(live, obj runtime.Object, manager string) bool {
	after, err := meta.Accessor(obj)
	if err != nil {
		return false
	}
	stored, tracked, ok := u.storedEntries(live, after)
	if !ok {
		return false
	}
	if !tracked {
		after.SetManagedFields(nil)
		return true
	}
	sets, ok := setsOf(stored)
	if !ok {
		return false
	}
	if live == nil {
		live = u.Empty
	}
	x, err := u.Converter.ConvertToVersion(live, u.Kind.GroupVersion())
	if err != nil {
		return false
	}
	y, err := u.Converter.ConvertToVersion(obj, u.Kind.GroupVersion())
	if err != nil {
		return false
	}
	nodes := u.arenas.get()
	defer u.arenas.put(nodes)
	sets, _, ok = updateSets(u, typedAccessor{}, reflect.ValueOf(x), reflect.ValueOf(y), sets, manager, nodes)
	if ok {
		after.SetManagedFields(entriesOf(sets, nodes))
	}
	return ok
}

// setsOf returns the sets of entries, which are not parsed yet. ok is false if one is missing.
func setsOf(entries []metav1.ManagedFieldsEntry) (sets []managerSet, ok bool) {
	sets = make([]managerSet, len(entries), len(entries)+1)
	for i := range entries {
		if entries[i].FieldsV1 == nil {
			return nil, false
		}
		sets[i] = managerSet{ManagedFieldsEntry: entries[i], fields: entries[i].FieldsV1.GetRawString()}
	}
	return sets, true
}

// storedEntries returns the entries of live. tracked is whether ownership is recorded: from the
// creation of the object, or while it has entries (SA-36). ok is false if the entries of the new
// object count and differ.
func (u *Updater) storedEntries(live runtime.Object, after metav1.Object) (entries []metav1.ManagedFieldsEntry, tracked, ok bool) {
	sent := after.GetManagedFields()
	if live == nil {
		return nil, true, len(sent) == 0
	}
	before, err := meta.Accessor(live)
	if err != nil {
		return nil, false, false
	}
	entries = before.GetManagedFields()
	if u.Subresource == "" && sent != nil && (len(sent) == 0 || !slices.EqualFunc(sent, entries, equalEntries)) {
		return nil, false, false
	}
	return entries, len(entries) > 0 || before.GetUID() == "", true
}

// equalEntries compares entries with the times that are stored.
func equalEntries(a, b metav1.ManagedFieldsEntry) bool {
	if (a.Time == nil) != (b.Time == nil) || seconds(a.Time) != seconds(b.Time) {
		return false
	}
	a.Time, b.Time = nil, nil
	return reflect.DeepEqual(a, b)
}

// entriesOf returns the entries of sets, whose nodes are those of nodes.
func entriesOf(sets []managerSet, nodes *nodeArena) []metav1.ManagedFieldsEntry {
	if len(sets) == 0 {
		return nil
	}
	entries := make([]metav1.ManagedFieldsEntry, len(sets))
	for i := range sets {
		entries[i] = sets[i].ManagedFieldsEntry
		if sets[i].changed {
			entries[i].FieldsV1 = new(metav1.FieldsV1)
			nodes.text = sets[i].appendFields(nodes.text[:0])
			entries[i].FieldsV1.SetRawBytes(nodes.text) // copies it
		}
	}
	return entries
}

// updateUnstructured is Update for a custom resource. It reads and writes the entries as decoded
// JSON. Objects of another version than that of the requests need a conversion, and are left to the
// library.
func (u *Updater) updateUnstructured(live runtime.Object, obj *unstructured.Unstructured, manager string) bool {
	before, ok := u.unstructuredOfKind(live)
	if !ok || obj.GroupVersionKind() != u.Kind {
		return false
	}
	metadata, ok := obj.Object["metadata"].(map[string]any)
	if !ok {
		return false
	}
	stored, tracked, ok := u.storedJSONEntries(before, metadata)
	if !ok {
		return false
	}
	if !tracked {
		delete(metadata, "managedFields")
		return true
	}
	sets, ok := jsonSetsOf(stored)
	if !ok {
		return false
	}
	if before == nil {
		before = u.Empty.(*unstructured.Unstructured)
	}
	nodes := u.arenas.get()
	defer u.arenas.put(nodes)
	sets, changed, ok := updateSets[any](u, jsonAccessor{}, before.Object, obj.Object, sets, manager, nodes)
	if !ok {
		return false
	}
	if changed {
		stored = jsonEntriesOf(sets)
	}
	setJSONEntries(metadata, stored)
	return true
}

func setJSONEntries(metadata map[string]any, entries []any) {
	if len(entries) == 0 {
		delete(metadata, "managedFields")
	} else {
		metadata["managedFields"] = entries
	}
}

// unstructuredOfKind returns the stored object, or nil if live is nil. ok is false if the version
// of the object is not that of the requests.
func (u *Updater) unstructuredOfKind(live runtime.Object) (obj *unstructured.Unstructured, ok bool) {
	if live == nil {
		return nil, true
	}
	obj, ok = live.(*unstructured.Unstructured)
	return obj, ok && obj.GroupVersionKind() == u.Kind
}

// storedJSONEntries is storedEntries for the metadata of a custom resource.
func (u *Updater) storedJSONEntries(live *unstructured.Unstructured, after map[string]any) (entries []any, tracked, ok bool) {
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
	if u.Subresource == "" && isSent && (!isList || len(list) == 0 || !equalJSON(sent, stored)) {
		return nil, false, false
	}
	return entries, len(entries) > 0 || live.GetUID() == "", true
}

// jsonSetsOf returns the sets of entries, which are not parsed yet. ok is false if the library
// would encode an entry differently.
func jsonSetsOf(entries []any) (sets []managerSet, ok bool) {
	sets = make([]managerSet, len(entries), len(entries)+1)
	for i := range entries {
		if sets[i], ok = parseEntry(entries[i]); !ok {
			return nil, false
		}
	}
	return sets, true
}

// parseEntry reads an entry. ok is false if the library would encode it differently.
func parseEntry(entry any) (s managerSet, ok bool) {
	if s, ok = parseOwner(entry); ok {
		s.fields, ok = s.rawFields()
	}
	return s, ok
}

// parseOwner is parseEntry without the fields.
func parseOwner(entry any) (s managerSet, ok bool) {
	if s.raw, ok = entry.(map[string]any); !ok {
		return s, false
	}
	for name, value := range s.raw {
		if name == "fieldsV1" {
			continue
		}
		text, isText := value.(string)
		if !isText || text == "" {
			return s, false
		}
		switch name {
		case "manager":
			s.Manager = text
		case "operation":
			s.Operation = metav1.ManagedFieldsOperationType(text)
		case "apiVersion":
			s.APIVersion = text
		case "fieldsType":
			s.FieldsType = text
		case "subresource":
			s.Subresource = text
		case "time":
			t, err := time.Parse(time.RFC3339, text)
			if err != nil || t.IsZero() || t.UTC().Format(time.RFC3339) != text {
				return s, false
			}
			s.Time = &metav1.Time{Time: t}
		default:
			return s, false
		}
	}
	return s, true
}

// rawFields returns the fields of the entry of a custom resource as FieldsV1.
func (s *managerSet) rawFields() (fields string, ok bool) {
	text, ok := appendFields(make([]byte, 0, 512), s.raw["fieldsV1"])
	return string(text), ok
}

// appendFields encodes a decoded set as FieldsV1, with its keys sorted by their bytes. In most
// cases this is the order of the library. If not, parse refuses the text.
func appendFields(b []byte, fields any) ([]byte, bool) {
	object, ok := fields.(map[string]any)
	if !ok {
		return nil, false
	}
	var buffer [16]string
	names := buffer[:0]
	for name := range object {
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
		if b, ok = appendFields(b, object[name]); !ok {
			return nil, false
		}
	}
	return append(b, '}'), true
}

// jsonEntriesOf returns the entries of sets as decoded JSON.
func jsonEntriesOf(sets []managerSet) []any {
	entries := make([]any, len(sets))
	for i := range sets {
		s := &sets[i]
		if !s.changed && !s.renewed {
			entries[i] = s.raw
			continue
		}
		raw := maps.Clone(s.raw)
		if raw == nil {
			raw = jsonEntry(&s.ManagedFieldsEntry)
		}
		if s.changed {
			raw["fieldsV1"] = s.decoded()
		}
		if s.renewed {
			raw["time"] = s.Time.UTC().Format(time.RFC3339)
		}
		entries[i] = raw
	}
	return entries
}

// decoded returns the set of an entry as decoded FieldsV1.
func (s *managerSet) decoded() map[string]any {
	if s.set != nil {
		return decodedSet(s.set, false)
	}
	fields, _ := decodeFields(s.fields)
	return fields
}

// jsonEntry returns a new entry as decoded JSON, without its set and its time.
func jsonEntry(e *metav1.ManagedFieldsEntry) map[string]any {
	raw := map[string]any{
		"manager": e.Manager, "operation": string(e.Operation), "apiVersion": e.APIVersion, "fieldsType": e.FieldsType,
	}
	if e.Subresource != "" {
		raw["subresource"] = e.Subresource
	}
	return raw
}

// decodedSet returns a set as decoded FieldsV1. self is whether the parent is a member.
func decodedSet(set []node, self bool) map[string]any {
	fields := make(map[string]any, len(set)+1)
	if self && len(set) > 0 {
		fields["."] = map[string]any{}
	}
	for i := range set {
		n := &set[i]
		if n.unparsed != "" {
			fields[n.name()], _ = decodeFields(n.unparsed)
		} else {
			fields[n.name()] = decodedSet(n.children, n.member)
		}
	}
	return fields
}

// decodeFields decodes the paths below a field at the beginning of FieldsV1 text that was parsed
// before. It returns the rest of the text.
func decodeFields(text string) (fields map[string]any, rest string) {
	fields = make(map[string]any)
	for text = text[1:]; text[0] != '}'; {
		text = strings.TrimPrefix(text, ",")
		end := strings.Index(text, `":{`) // a name has no other quotes than those of keys
		name := unescape(text[1:end])
		fields[name], text = decodeFields(text[end+len(`":`):])
	}
	return fields, text[1:]
}
