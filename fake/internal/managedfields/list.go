package managedfields

import (
	"reflect"
	"slices"
	"strconv"
)

// list compares lists whose elements have owners.
func (c *comparison) list(p *plan, before, after reflect.Value, n node) node {
	old, now := content(before), content(after)
	if size(old) == 0 && size(now) == 0 {
		return c.hollow(before, after, n)
	}
	var ok bool
	if n.children, ok = c.abreast(p, old, now); !ok {
		n.children = c.matched(p, old, now)
	}
	return around(before, after, n)
}

// fewItems is up to how many elements a list is searched for doubles one by one.
const fewItems = 16

// abreast compares lists that have the same elements in the same order, as most
// do, and none twice.
func (c *comparison) abreast(p *plan, old, now reflect.Value) ([]node, bool) {
	if size(old) != size(now) || now.Len() > fewItems {
		return nil, false
	}
	for i := range now.Len() {
		if !sameItem(p, old.Index(i), now.Index(i)) {
			return nil, false
		}
		for j := range i {
			if sameItem(p, now.Index(j), now.Index(i)) {
				return nil, false
			}
		}
	}
	mark := c.nodes.mark()
	for i := range now.Len() {
		if child := c.compare(p.elem, old.Index(i), now.Index(i), element{}); child.worth() {
			child.element = c.element(p, now.Index(i))
			c.nodes.add(child)
		}
	}
	changed := c.nodes.since(mark)
	slices.SortFunc(changed, func(a, b node) int { return a.compare(b.element) })
	return changed, true
}

// sameItem reports whether two list elements are told apart by nothing. It does
// not know of elements without all their keys.
func sameItem(p *plan, a, b reflect.Value) bool {
	if p.shape == set {
		return sameKey(a, b)
	}
	for i := range p.keys {
		key := &p.keys[i]
		x, y := key.field.value(a), key.field.value(b)
		if !x.IsValid() && !y.IsValid() && !key.required {
			continue
		}
		if !x.IsValid() || !y.IsValid() || isNull(x) || isNull(y) || !sameKey(x, y) {
			return false
		}
	}
	return true
}

// sameKey compares two strings or two integers.
func sameKey(a, b reflect.Value) bool {
	a, b = reflect.Indirect(a), reflect.Indirect(b)
	if a.Kind() == reflect.String {
		return a.String() == b.String()
	}
	return a.Int() == b.Int()
}

// item is an element of a list before or after the write.
type item struct {
	element
	value reflect.Value
	after bool
}

// matched compares any lists, element by element with the same key.
func (c *comparison) matched(p *plan, old, now reflect.Value) []node {
	items := make([]item, 0, size(old)+size(now))
	for i := range size(old) {
		items = append(items, item{c.element(p, old.Index(i)), old.Index(i), false})
	}
	for i := range size(now) {
		items = append(items, item{c.element(p, now.Index(i)), now.Index(i), true})
	}
	slices.SortStableFunc(items, func(a, b item) int { return a.compare(b.element) })
	for i := 1; i < len(items); i++ { // those before the write come first
		if items[i].element == items[i-1].element && items[i].after == items[i-1].after {
			c.beyond = true // the list has it twice
			return nil
		}
	}
	mark := c.nodes.mark()
	for len(items) > 0 && !c.beyond {
		var was, is reflect.Value
		one := items[0]
		items = items[1:]
		if one.after {
			is = one.value
		} else {
			was = one.value
		}
		if len(items) > 0 && items[0].element == one.element {
			is, items = items[0].value, items[1:]
		}
		if child := c.compare(p.elem, was, is, one.element); child.worth() {
			c.nodes.add(child)
		}
	}
	return c.nodes.since(mark)
}

// element spells what tells a list element apart.
func (c *comparison) element(p *plan, v reflect.Value) element {
	b := make([]byte, 0, 48)
	if p.shape == set {
		return element{string(c.appendValue(b, v)), valueElement}
	}
	for i := range p.keys {
		b = append(b, separator(i))
		b = append(b, quote...)
		b = append(b, p.keys[i].field.name...)
		b = append(b, quote...)
		b = append(b, ':')
		switch part := p.keys[i].field.value(v); {
		case !part.IsValid() && p.keys[i].required, part.IsValid() && isNull(part):
			c.beyond = true
			return element{}
		case !part.IsValid():
			b = c.appendQuoted(b, p.keys[i].fallback)
		default:
			b = c.appendValue(b, part)
		}
	}
	return element{string(append(b, '}')), keyElement}
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
