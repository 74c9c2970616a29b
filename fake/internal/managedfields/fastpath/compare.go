package fastpath

import (
	"slices"
	"strings"
)

// accessor reads the values of one representation of objects: Go values of built-in types
// (typedAccessor) or decoded JSON of custom resources (jsonAccessor). The zero V is an absent
// value.
//
// value.Value of structured-merge-diff is such an interface too, but a slow one: it allocates the
// values that it returns, and looks up the types and fields of Go values in maps. value.Equals of
// two equal Pods takes 67 allocations, the comparison in this package one.
type accessor[V any] interface {
	// isAbsent reports whether v is the zero V.
	isAbsent(v V) bool
	// isNull reports whether v is present and null.
	isNull(v V) bool
	// equal compares two values of a leaf.
	equal(p *plan, a, b V) bool
	// conforms reports whether v conforms to the schema of a scalar leaf, or is a valid untyped
	// value.
	conforms(p *plan, v V) bool
	// untypedPlan returns the plan by which two untyped values are compared, or nil if they are not
	// supported. One of them may be absent.
	untypedPlan(before, after V) *plan

	// field returns a field of an object.
	field(f *planField, v V) V
	// compareMembers compares all members of two objects with c.compareMember, and reports whether
	// there are any.
	compareMembers(c *comparer[V], p *plan, before, after V) bool
	// checkMembers checks all members of an object with c.check.
	checkMembers(c *comparer[V], p *plan, v V)

	// list returns a list and its length. The length of an absent list and of null is 0. ok is
	// false for values that are not supported.
	list(v V) (l V, n int, ok bool)
	// item returns element i of a list that was returned by list.
	item(l V, i int) V
	// key returns a string or an integer that identifies an element. ok is false for other values.
	key(v V) (k keyValue, ok bool)
}

// keyValue is a string or an integer.
type keyValue struct {
	text      string
	integer   int64
	isInteger bool
}

// comparer compares two objects and collects the fields that differ.
type comparer[V any] struct {
	values accessor[V]
	nodes  *nodeArena
	// unsupported is set if an object has a value that is left to the library. The collected fields
	// are meaningless then.
	unsupported bool
}

// changes returns the fields that a write changed, added or removed. ok is false if the objects
// have values that are not supported.
func (c *comparer[V]) changes(p *plan, before, after V) (changes []node, ok bool) {
	n := c.compare(p, before, after, element{})
	return n.children, !c.unsupported
}

// compare returns the node of a field that is present in one of the objects or in both.
func (c *comparer[V]) compare(p *plan, before, after V, at element) node {
	n := node{element: at}
	if p.kind == untyped {
		if p = c.values.untypedPlan(before, after); p == nil {
			c.unsupported = true
			return n
		}
	}
	switch p.kind {
	case leaf:
		c.check(p, before)
		c.check(p, after)
		return c.compareLeaf(p, before, after, n)
	case structure, dictionary, untyped:
		return c.compareObjects(p, before, after, n)
	case keyedList, set:
		return c.compareLists(p, before, after, n)
	}
	c.unsupported = true
	return n
}

func (c *comparer[V]) compareLeaf(p *plan, before, after V, n node) node {
	switch {
	case c.values.isAbsent(before):
		n.member = true
	case c.values.isAbsent(after):
		n.removed = true
	default:
		n.member = !c.unsupported && !c.values.equal(p, before, after)
	}
	return n
}

// compareEmpty compares two lists or objects without elements. Such a field has one owner. Null and
// empty differ.
func (c *comparer[V]) compareEmpty(before, after V, n node) node {
	n.removed = c.values.isAbsent(after)
	n.member = c.values.isAbsent(before) || !n.removed && c.values.isNull(before) != c.values.isNull(after)
	return n
}

// markPresence sets in the node of a list or an object with elements whether it was added or
// removed itself.
func (c *comparer[V]) markPresence(before, after V, n node) node {
	n.member, n.removed = c.values.isAbsent(before), c.values.isAbsent(after)
	return n
}

func (c *comparer[V]) compareObjects(p *plan, before, after V, n node) node {
	mark := c.nodes.mark()
	hasMembers := c.values.compareMembers(c, p, before, after)
	switch {
	case c.unsupported:
		return n
	case !hasMembers:
		return c.compareEmpty(before, after, n)
	}
	if n.children = c.nodes.pop(mark); len(n.children) > 1 {
		slices.SortFunc(n.children, func(a, b node) int { return strings.Compare(a.text, b.text) })
	}
	return c.markPresence(before, after, n)
}

// compareMember compares a member of two objects, and adds its node if it or a field in it has
// changed. f is nil for a member that the schema does not declare.
func (c *comparer[V]) compareMember(p *plan, f *planField, name string, before, after V) {
	if f != nil && f.excluded {
		c.check(p, before)
		c.check(p, after)
		return
	}
	n := c.compare(p, before, after, element{name, fieldElement})
	if f != nil && f.notReported {
		n.member, n.removed = false, false
	}
	c.addMember(n)
}

// addMember adds the node of a member of an object unless it is empty.
func (c *comparer[V]) addMember(n node) {
	if n.isEmpty() || c.unsupported {
		return
	}
	c.unsupported = !isPlain(n.text)
	c.nodes.push(n)
}

// check sets unsupported if v may not conform to the schema. It is used for values that are not
// compared field by field.
func (c *comparer[V]) check(p *plan, v V) {
	if p.alwaysValid || c.unsupported || c.values.isAbsent(v) {
		return
	}
	switch p.kind {
	case leaf:
		if p.inside != nil {
			c.check(p.inside, v)
		} else {
			c.unsupported = !c.values.conforms(p, v)
		}
	case untyped:
		c.unsupported = !c.values.conforms(p, v)
	case structure, dictionary:
		c.values.checkMembers(c, p, v)
	case atomicList, keyedList, set:
		c.checkItems(p, v)
	default:
		c.unsupported = true
	}
}

func (c *comparer[V]) checkItems(p *plan, v V) {
	l, n, ok := c.values.list(v)
	c.unsupported = !ok
	for i := 0; i < n && !c.unsupported; i++ {
		item := c.values.item(l, i)
		c.check(p.elem, item)
		if p.kind != atomicList {
			c.element(p, item)
		}
	}
}

// isPlain reports whether FieldsV1 spells a name without escapes.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// isPlainValue reports the same for a value of a key or a set. Its JSON also escapes characters
// that have a meaning in HTML.
func isPlainValue(s string) bool {
	return isPlain(s) && !strings.ContainsAny(s, "<>&")
}
