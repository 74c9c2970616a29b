package fastpath

import "slices"

// target reads and changes the values of an object that a configuration is merged into. The
// configuration is decoded JSON.
type target[V any] interface {
	accessor[V]
	// isObject reports whether v is absent or an object. It is called for values of plans of
	// objects.
	isObject(v V) bool
	// configPlan returns the plan by which untyped values are merged, or nil if they are not
	// supported. live may be absent.
	configPlan(live V, config any) *plan
	// equalConfig reports whether live, which is present, is a leaf with the value config.
	equalConfig(p *plan, live V, config any) bool
	// convert returns config as the value of a leaf. ok is false if it does not conform to the
	// schema, or is not supported.
	convert(p *plan, config any) (v V, ok bool)

	// isReplacedByNull reports whether null in the configuration replaces v: whether v is not null
	// itself, and not a list or an object with elements that have owners. ok is false if null is not
	// supported.
	isReplacedByNull(p *plan, v V) (replaced, ok bool)

	// newObject returns an object without members.
	newObject(p *plan) V
	// member returns a member of an object that is not null. f is its field if it is declared.
	member(p *plan, f *planField, name string, object V) V
	// setMember sets a member of an object that member was called with. An absent v is null.
	setMember(p *plan, f *planField, name string, object, v V)
	// newList returns a list with items, which may be elements of other lists.
	newList(p *plan, items []V) V
	// setItem sets element i of a list.
	setItem(list V, i int, v V)
}

// merger merges a configuration into an object, as server-side apply does. It changes the object.
//
// It finds two sets of fields: the fields of the configuration, which its manager owns afterwards
// (applied), and the fields that differ from those of the object (comparer.nodes). Only fields of
// the configuration can differ.
type merger[V any] struct {
	comparer[V]
	target target[V]
	config comparer[any]
	// readOnly is whether a configuration that changes the object is not supported.
	readOnly bool
	// applied is the set of the fields so far as FieldsV1. Members of objects and elements of lists
	// are merged in the order of the set.
	applied []byte
}

// newMerger returns a merger whose sets have the nodes of nodes.
func newMerger[V any](values target[V], nodes *nodeArena) *merger[V] {
	return &merger[V]{
		comparer: comparer[V]{values: values, nodes: nodes},
		target:   values,
		config:   comparer[any]{values: jsonAccessor{}},
		applied:  make([]byte, 0, 1024),
	}
}

// merged is the result of merging a field.
type merged[V any] struct {
	// value is the field afterwards. changed is whether it differs from the field before in any
	// way, also in the order of a list or in fields without an owner.
	value   V
	changed bool
	// isOwned is whether the manager owns the field itself, and not only fields in it.
	isOwned bool
	change  node
}

// application is the result of an apply.
type application struct {
	// changed is whether the object differs in any way from before.
	changed bool
	// applied has the fields of the configuration as FieldsV1, changes those that differ from before.
	applied string
	changes []node
}

// apply merges config into object. ok is false if the object or the configuration has values that
// are not supported. The object may have been changed then.
func (m *merger[V]) apply(p *plan, object V, config map[string]any) (result application, ok bool) {
	if m.check(p, object); m.unsupported {
		return application{}, false
	}
	m.applied = append(m.applied, '{')
	root := m.merge(p, object, config, element{})
	m.applied = append(m.applied, '}')
	return application{root.changed, string(m.applied), root.change.children}, !m.unsupported
}

// merge merges config into a field with the value live, which may be absent.
func (m *merger[V]) merge(p *plan, live V, config any, at element) merged[V] {
	out := merged[V]{value: live, change: node{element: at}}
	if p.kind == untyped {
		if p = m.target.configPlan(live, config); p == nil {
			m.unsupported = true
			return out
		}
	}
	if config == nil {
		m.mergeNull(p, &out)
		return out
	}
	switch p.kind {
	case leaf:
		m.mergeLeaf(p, config, &out)
	case structure, dictionary, untyped:
		m.mergeObject(p, config, &out)
	case keyedList, set:
		m.mergeList(p, config, &out)
	default:
		m.unsupported = true
	}
	return out
}

// refusesChange reports whether the object must not be changed, or the configuration is not
// supported for another reason. It is called before a change.
func (m *merger[V]) refusesChange() bool {
	m.unsupported = m.unsupported || m.readOnly
	return m.unsupported
}

// mergeOwned merges config into a field and adds the field to the applied fields, and its fields.
// self is whether the manager owns it in any case.
func (m *merger[V]) mergeOwned(p *plan, live V, config any, at element, self bool) merged[V] {
	start := len(m.applied)
	if m.applied[start-1] != '{' {
		m.applied = append(m.applied, ',')
	}
	m.applied = append(m.applied, '"', at.kind.letter(), ':')
	m.applied = append(m.applied, at.text...)
	m.applied = append(m.applied, `":{`...)
	empty := len(m.applied)
	if self {
		m.applied = append(m.applied, `".":{}`...)
	}
	before := len(m.applied)
	out := m.merge(p, live, config, at)
	if out.isOwned = out.isOwned || self; len(m.applied) == before { // without fields in it
		m.applied = m.applied[:empty]
		if !out.isOwned {
			m.applied = m.applied[:start]
			return out
		}
	}
	m.applied = append(m.applied, '}')
	return out
}

func (m *merger[V]) mergeLeaf(p *plan, config any, out *merged[V]) {
	out.isOwned = true
	if !m.values.isAbsent(out.value) && m.target.equalConfig(p, out.value, config) || m.refusesChange() {
		return
	}
	v, ok := m.target.convert(p, config)
	m.unsupported = m.unsupported || !ok
	out.value, out.changed, out.change.member = v, true, true
}

// mergeNull merges null, which does not change lists and objects with elements that have owners.
func (m *merger[V]) mergeNull(p *plan, out *merged[V]) {
	out.isOwned = true
	replaced, ok := m.target.isReplacedByNull(p, out.value)
	m.unsupported = m.unsupported || !ok
	if replaced && !m.refusesChange() {
		var null V
		out.value, out.changed, out.change.member = null, true, true
	}
}

func (m *merger[V]) mergeObject(p *plan, config any, out *merged[V]) {
	members, ok := config.(map[string]any)
	if !ok || !m.target.isObject(out.value) {
		m.unsupported = true
		return
	}
	isAbsent := m.values.isAbsent(out.value)
	isNew := isAbsent || m.values.isNull(out.value)
	if isNew && m.refusesChange() {
		return
	}
	if isNew {
		out.value, out.changed = m.target.newObject(p), true
		out.change.member = isAbsent || len(members) == 0
	}
	if len(members) == 0 {
		out.isOwned = true
		return
	}
	var buffer [16]string
	names := buffer[:0]
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	mark := m.nodes.mark()
	for _, name := range names {
		if m.mergeMember(p, name, members[name], isNew, out); m.unsupported {
			return
		}
	}
	out.change.children = m.nodes.pop(mark)
}

// mergeMember merges a member of the object out.value. In a new object, all members are absent.
func (m *merger[V]) mergeMember(p *plan, name string, value any, isNew bool, out *merged[V]) {
	below, f := p.member(name)
	if below == nil || !isPlain(name) {
		m.unsupported = true
		return
	}
	var live V
	if !isNew {
		live = m.target.member(p, f, name, out.value)
	}
	start := len(m.applied)
	n := m.mergeOwned(below, live, value, element{name, fieldElement}, f == nil || f.undeclared)
	if m.unsupported {
		return
	}
	if n.changed {
		m.target.setMember(p, f, name, out.value, n.value)
		out.changed = true
	}
	switch {
	case f == nil:
	case f.excluded:
		m.applied = m.applied[:start]
		return
	case f.notReported:
		n.change.member = false
		if n.isOwned {
			m.applied = m.applied[:start] // it has no fields
		}
	}
	if !n.change.isEmpty() {
		m.nodes.push(n.change)
	}
}
