package fastpath

import (
	"slices"
	"strings"
)

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
	target  target[V]
	config  comparer[any]
	applied nodeArena
}

func newMerger[V any](values target[V]) *merger[V] {
	return &merger[V]{
		comparer: comparer[V]{values: values},
		target:   values,
		config:   comparer[any]{values: jsonAccessor{}},
	}
}

// merged is the result of merging a field.
type merged[V any] struct {
	// value is the field afterwards. changed is whether it differs from the field before in any
	// way, also in the order of a list or in fields without an owner.
	value   V
	changed bool
	// applied and change are the nodes of the field.
	applied, change node
}

// apply merges config into object. applied and changes are sets of fields. ok is false if the
// object or the configuration has values that are not supported. The object may have been changed
// then.
func (m *merger[V]) apply(p *plan, object V, config map[string]any) (result merged[V], ok bool) {
	m.check(p, object)
	if !m.unsupported {
		result = m.merge(p, object, config, element{})
	}
	return result, !m.unsupported
}

// merge merges config into a field with the value live, which may be absent.
func (m *merger[V]) merge(p *plan, live V, config any, at element) merged[V] {
	out := merged[V]{value: live, applied: node{element: at}, change: node{element: at}}
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

func (m *merger[V]) mergeLeaf(p *plan, config any, out *merged[V]) {
	out.applied.member = true
	if !m.values.isAbsent(out.value) && m.target.equalConfig(p, out.value, config) {
		return
	}
	v, ok := m.target.convert(p, config)
	m.unsupported = m.unsupported || !ok
	out.value, out.changed, out.change.member = v, true, true
}

// mergeNull merges null, which does not change lists and objects with elements that have owners.
func (m *merger[V]) mergeNull(p *plan, out *merged[V]) {
	out.applied.member = true
	replaced, ok := m.target.isReplacedByNull(p, out.value)
	m.unsupported = m.unsupported || !ok
	if replaced {
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
	if isNew {
		out.value, out.changed = m.target.newObject(p), true
		out.change.member = isAbsent || len(members) == 0
	}
	if len(members) == 0 {
		out.applied.member = true
		return
	}
	applied, changes := m.applied.mark(), m.nodes.mark()
	for name, value := range members {
		if m.mergeMember(p, name, value, isNew, out); m.unsupported {
			return
		}
	}
	out.applied.children = sorted(m.applied.pop(applied), node.compareNames)
	out.change.children = sorted(m.nodes.pop(changes), node.compareNames)
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
	n := m.merge(below, live, value, element{name, fieldElement})
	if m.unsupported {
		return
	}
	if n.changed {
		m.target.setMember(p, f, name, out.value, n.value)
		out.changed = true
	}
	switch {
	case f == nil || f.undeclared:
		n.applied.member = true
	case f.notReported:
		n.applied.member, n.change.member = false, false
	}
	if f == nil || !f.excluded {
		m.push(n)
	}
}

// push adds the nodes of a field to the nodes of its parent.
func (m *merger[V]) push(n merged[V]) {
	if !n.applied.isEmpty() {
		m.applied.push(n.applied)
	}
	if !n.change.isEmpty() {
		m.nodes.push(n.change)
	}
}

// sorted returns nodes in the order of a set.
func sorted(nodes []node, compare func(a, b node) int) []node {
	if len(nodes) > 1 && !slices.IsSortedFunc(nodes, compare) {
		slices.SortFunc(nodes, compare)
	}
	return nodes
}

// compareNames orders the members of an object.
func (n node) compareNames(other node) int { return strings.Compare(n.text, other.text) }

// compareElements orders the elements of a list.
func (n node) compareElements(other node) int { return n.compare(other.element) }
