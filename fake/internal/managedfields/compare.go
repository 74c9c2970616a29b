package managedfields

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// comparison walks two objects of one type side by side and notes what differs.
type comparison struct {
	// beyond is set when the walk met something that the shortcut leaves to the
	// library; what it notes is worthless then.
	beyond bool
	nodes  *nodeArena
}

// differences gives what a write changed: the fields that it set and those that
// it removed, as a tree. False means that it has to be found the long way.
func differences(p *plan, before, after any, nodes *nodeArena) ([]node, bool) {
	c := comparison{nodes: nodes}
	n := c.compare(p, reflect.ValueOf(before), reflect.ValueOf(after), element{})
	return n.children, !c.beyond
}

// compare gives the node of one field. Values that are not valid are absent; nil
// pointers, slices and maps that are there are null.
func (c *comparison) compare(p *plan, before, after reflect.Value, at element) node {
	n := node{element: at}
	switch p.shape {
	case leaf:
		if p.inside != nil {
			c.inspect(p.inside, before)
			c.inspect(p.inside, after)
		}
		return c.whole(p.same, before, after, n)
	case structure:
		return c.structure(p, before, after, n)
	case dictionary:
		return c.dictionary(p, before, after, n)
	case keyed, set:
		return c.list(p, before, after, n)
	}
	c.beyond = true
	return n
}

// whole compares fields that have one owner.
func (c *comparison) whole(same likeness, before, after reflect.Value, n node) node {
	switch {
	case !before.IsValid():
		n.member = true
	case !after.IsValid():
		n.removed = true
	default:
		n.member = !same(before, after)
	}
	return n
}

// inspect looks through what is not compared field by field, but not sound.
func (c *comparison) inspect(p *plan, v reflect.Value) {
	if v.IsValid() && p.shape == odd {
		c.beyond = true
	}
	if p.inside != nil {
		p = p.inside
	}
	v = content(v)
	if p.sound || !v.IsValid() || c.beyond {
		return
	}
	switch p.shape {
	case structure:
		for i := range p.fields {
			c.inspect(p.fields[i].plan, p.fields[i].value(v))
		}
	case dictionary:
		for i := v.MapRange(); i.Next(); {
			c.inspect(p.elem, i.Value())
		}
	case sequence, keyed:
		for i := range v.Len() {
			c.inspect(p.elem, v.Index(i))
			if p.shape == keyed {
				c.element(p, v.Index(i))
			}
		}
	}
}

// hollow compares two collections without anything in them: such a field has one
// owner, and null is not empty.
func (c *comparison) hollow(before, after reflect.Value, n node) node {
	return c.whole(func(a, b reflect.Value) bool {
		return isNull(a) == isNull(b)
	}, before, after, n)
}

// around notes for a collection with anything in it that it came or went itself.
func around(before, after reflect.Value, n node) node {
	n.member = !before.IsValid()
	n.removed = !after.IsValid()
	return n
}

func isNull(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return v.IsNil()
	}
	return false
}

// content gives what is to be compared inside of v: not valid if v is absent or
// null.
func content(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.IsValid() && isNull(v) {
		return reflect.Value{}
	}
	return v
}

func (c *comparison) structure(p *plan, before, after reflect.Value, n node) node {
	old, now := content(before), content(after)
	some := false
	mark := c.nodes.mark()
	for i := range p.fields {
		f := &p.fields[i]
		var was, is reflect.Value
		if old.IsValid() {
			was = f.value(old)
		}
		if now.IsValid() {
			is = f.value(now)
		}
		if !was.IsValid() && !is.IsValid() {
			continue
		}
		some = true
		if f.unowned && f.plan.sound {
			continue
		}
		child := c.compare(f.plan, was, is, element{f.name, fieldElement})
		if c.beyond {
			return n
		}
		if f.silent {
			child.member, child.removed = false, false
		}
		if child.worth() && !f.unowned {
			c.nodes.add(child)
		}
	}
	if !some {
		return c.hollow(before, after, n)
	}
	n.children = c.nodes.since(mark)
	return around(before, after, n)
}

func (c *comparison) dictionary(p *plan, before, after reflect.Value, n node) node {
	old, now := content(before), content(after)
	if size(old) == 0 && size(now) == 0 {
		return c.hollow(before, after, n)
	}
	mark := c.nodes.mark()
	switch p.native {
	case texts:
		natively[map[string]string](c, old, now, func(a, b string) bool { return a == b })
	case quantities:
		natively[corev1.ResourceList](c, old, now, sameQuantities)
	default:
		c.values(p, old, now)
	}
	n.children = c.nodes.since(mark)
	for i := range n.children {
		c.beyond = c.beyond || !plain(n.children[i].text)
	}
	slices.SortFunc(n.children, func(a, b node) int { return strings.Compare(a.text, b.text) })
	return around(before, after, n)
}

// natively compares maps of a known type whose values are leaves.
func natively[M ~map[K]V, K ~string, V any](c *comparison, old, now reflect.Value, same func(a, b V) bool) {
	var was, is M
	if old.IsValid() {
		was = old.Interface().(M)
	}
	if now.IsValid() {
		is = now.Interface().(M)
	}
	for name, value := range is {
		if before, there := was[name]; !there || !same(before, value) {
			c.nodes.add(node{element: element{string(name), fieldElement}, member: true})
		}
	}
	for name := range was {
		if _, there := is[name]; !there {
			c.nodes.add(node{element: element{string(name), fieldElement}, removed: true})
		}
	}
}

// values compares any maps.
func (c *comparison) values(p *plan, old, now reflect.Value) {
	value := func(m, name reflect.Value) reflect.Value {
		if !m.IsValid() {
			return m
		}
		return m.MapIndex(name)
	}
	note := func(name, was, is reflect.Value) {
		if child := c.compare(p.elem, was, is, element{name.String(), fieldElement}); child.worth() {
			c.nodes.add(child)
		}
	}
	if now.IsValid() {
		for i := now.MapRange(); i.Next(); {
			note(i.Key(), value(old, i.Key()), i.Value())
		}
	}
	if old.IsValid() {
		for i := old.MapRange(); i.Next(); {
			if !value(now, i.Key()).IsValid() {
				note(i.Key(), i.Value(), reflect.Value{})
			}
		}
	}
}

func size(v reflect.Value) int {
	if !v.IsValid() {
		return 0
	}
	return v.Len()
}

// plain reports whether a name is spelt in FieldsV1 as it is.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// plainValue reports the same of a value in a key or set, whose JSON also escapes
// what HTML would trip over.
func plainValue(s string) bool {
	return plain(s) && !strings.ContainsAny(s, "<>&")
}
