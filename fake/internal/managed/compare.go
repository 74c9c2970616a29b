package managed

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// comparison walks two objects of one type side by side and notes what differs.
type comparison struct {
	// beyond is set when the walk met something that the shortcut leaves to the
	// library; what it notes is worthless then.
	beyond bool
}

// differences gives what a write changed: the fields that it set and those that
// it removed, as a tree. False means that it has to be found the long way.
func differences(p *plan, before, after any) ([]node, bool) {
	var c comparison
	n := c.compare(p, reflect.ValueOf(before), reflect.ValueOf(after), element{})
	return n.children, !c.beyond
}

// compare gives the node of one field. Values that are not valid are absent; nil
// pointers, slices and maps that are there are null.
func (c *comparison) compare(p *plan, before, after reflect.Value, at element) node {
	n := node{element: at}
	switch p.shape {
	case leaf:
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

// worth reports whether a node says anything.
func (n *node) worth() bool { return n.member || n.removed || len(n.children) > 0 }

func (c *comparison) structure(p *plan, before, after reflect.Value, n node) node {
	old, now := content(before), content(after)
	some := false
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
		child := c.compare(f.plan, was, is, element{fieldElement, f.name})
		if c.beyond {
			return n
		}
		if f.silent {
			child.member, child.removed = false, false
		}
		if child.worth() && !f.unowned {
			n.children = append(n.children, child)
		}
	}
	if !some {
		return c.hollow(before, after, n)
	}
	return around(before, after, n)
}

func (c *comparison) dictionary(p *plan, before, after reflect.Value, n node) node {
	old, now := content(before), content(after)
	if size(old) == 0 && size(now) == 0 {
		return c.hollow(before, after, n)
	}
	for _, name := range names(old, now) {
		var was, is reflect.Value
		if old.IsValid() {
			was = old.MapIndex(name)
		}
		if now.IsValid() {
			is = now.MapIndex(name)
		}
		child := c.compare(p.elem, was, is, element{fieldElement, name.String()})
		if child.worth() {
			c.beyond = c.beyond || !plain(child.text)
			n.children = append(n.children, child)
		}
	}
	slices.SortFunc(n.children, func(a, b node) int { return strings.Compare(a.text, b.text) })
	return around(before, after, n)
}

func size(v reflect.Value) int {
	if !v.IsValid() {
		return 0
	}
	return v.Len()
}

// names gives the keys that are in either map, once each.
func names(a, b reflect.Value) []reflect.Value {
	keys := make([]reflect.Value, 0, max(size(a), size(b)))
	if a.IsValid() {
		keys = append(keys, a.MapKeys()...)
	}
	if b.IsValid() {
		for _, key := range b.MapKeys() {
			if !a.IsValid() || !a.MapIndex(key).IsValid() {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

func (c *comparison) list(p *plan, before, after reflect.Value, n node) node {
	old, now := content(before), content(after)
	if size(old) == 0 && size(now) == 0 {
		return c.hollow(before, after, n)
	}
	items := c.items(p, old, nil, false)
	items = c.items(p, now, items, true)
	slices.SortStableFunc(items, func(a, b item) int { return a.compare(b.element) })
	for i := 0; i < len(items) && !c.beyond; i++ {
		var was, is reflect.Value
		one := items[i]
		if one.after {
			is = one.value
		} else {
			was = one.value
		}
		if i+1 < len(items) && items[i+1].element == one.element {
			i++
			if one.after || !items[i].after {
				c.beyond = true // the list has it twice
				return n
			}
			is = items[i].value
		}
		if child := c.compare(p.elem, was, is, one.element); child.worth() {
			n.children = append(n.children, child)
		}
	}
	return around(before, after, n)
}

// item is an element of a list before or after the write.
type item struct {
	element
	value reflect.Value
	after bool
}

// items appends the elements of a list to those there are.
func (c *comparison) items(p *plan, list reflect.Value, to []item, after bool) []item {
	for i := range size(list) {
		v := list.Index(i)
		e := element{kind: valueElement}
		if p.shape == set {
			e.text = string(c.appendValue(make([]byte, 0, 64), v))
		} else {
			e = element{keyElement, c.key(p.keys, v)}
		}
		to = append(to, item{e, v, after})
	}
	return to
}

// appendValue spells a string or an integer.
func (c *comparison) appendValue(b []byte, v reflect.Value) []byte {
	if v = reflect.Indirect(v); v.Kind() == reflect.String {
		return c.appendQuoted(b, v.String())
	}
	at := len(b)
	b = strconv.AppendInt(b, v.Int(), 10)
	c.beyond = c.beyond || len(b)-at > maxDigits
	return b
}

func (c *comparison) appendQuoted(b []byte, s string) []byte {
	c.beyond = c.beyond || !plainValue(s)
	b = append(b, quote...)
	b = append(b, s...)
	return append(b, quote...)
}

// key spells what tells a list element apart.
func (c *comparison) key(keys []planKey, v reflect.Value) string {
	b := make([]byte, 0, 64)
	for i := range keys {
		b = append(b, separator(i))
		b = append(b, quote...)
		b = append(b, keys[i].field.name...)
		b = append(b, quote...)
		b = append(b, ':')
		part := keys[i].field.value(v)
		switch {
		case !part.IsValid() && keys[i].required, part.IsValid() && isNull(part):
			c.beyond = true
			return ""
		case !part.IsValid():
			b = c.appendQuoted(b, keys[i].fallback)
		default:
			b = c.appendValue(b, part)
		}
	}
	return string(append(b, '}'))
}

// separator is what stands before part i of a key.
func separator(i int) byte {
	if i == 0 {
		return '{'
	}
	return ','
}

// maxDigits is the most digits of an integer that the library can read back from
// FieldsV1, as a float, without loss.
const maxDigits = 15

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
