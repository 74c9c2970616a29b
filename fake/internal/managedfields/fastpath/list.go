package fastpath

import (
	"slices"
	"strconv"
)

// compareLists compares lists whose elements have owners.
func (c *comparer[V]) compareLists(p *plan, before, after V, n node) node {
	old, oldLen, ok := c.values.list(before)
	now, nowLen, okNow := c.values.list(after)
	switch {
	case !ok || !okNow:
		c.unsupported = true
		return n
	case oldLen == 0 && nowLen == 0:
		return c.compareEmpty(before, after, n)
	case oldLen == nowLen && nowLen <= maxPairwise && c.haveSameKeys(p, old, now, nowLen):
		n.children = c.compareByIndex(p, old, now, nowLen)
	default:
		n.children = c.compareByKey(p, old, oldLen, now, nowLen)
	}
	return c.markPresence(before, after, n)
}

// maxPairwise is the length up to which the elements of a list are compared in pairs to find
// duplicates.
const maxPairwise = 16

// haveSameKeys reports whether two lists of n elements have the same keys in the same order, and no
// duplicates. Most lists do.
func (c *comparer[V]) haveSameKeys(p *plan, old, now V, n int) bool {
	for i := range n {
		item := c.values.item(now, i)
		if !c.equalKeys(p, c.values.item(old, i), item) {
			return false
		}
		for j := range i {
			if c.equalKeys(p, c.values.item(now, j), item) {
				return false
			}
		}
	}
	return true
}

// compareByIndex compares lists with the same keys in the same order.
func (c *comparer[V]) compareByIndex(p *plan, old, now V, n int) []node {
	mark := c.nodes.mark()
	for i := range n {
		item := c.values.item(now, i)
		child := c.compare(p.elem, c.values.item(old, i), item, element{})
		if c.unsupported {
			return nil
		}
		if !child.isEmpty() {
			child.element = c.element(p, item)
			c.nodes.push(child)
		}
	}
	changed := c.nodes.pop(mark)
	slices.SortFunc(changed, func(a, b node) int { return a.compare(b.element) })
	return changed
}

// equalKeys reports whether two elements have the same key. It is false for elements without a
// valid key.
func (c *comparer[V]) equalKeys(p *plan, a, b V) bool {
	if p.kind == set {
		return c.equalKeyValues(a, b)
	}
	for i := range p.keys {
		key := &p.keys[i]
		x, y := c.values.field(key.field, a), c.values.field(key.field, b)
		if !key.required && c.values.isAbsent(x) && c.values.isAbsent(y) {
			continue
		}
		if !c.equalKeyValues(x, y) {
			return false
		}
	}
	return true
}

func (c *comparer[V]) equalKeyValues(a, b V) bool {
	x, ok := c.values.key(a)
	if !ok {
		return false
	}
	y, ok := c.values.key(b)
	return ok && x == y
}

// listItem is an element of a list before or after the write.
type listItem[V any] struct {
	element
	value V
	after bool
}

// compareByKey compares any two lists.
func (c *comparer[V]) compareByKey(p *plan, old V, oldLen int, now V, nowLen int) []node {
	items := make([]listItem[V], 0, oldLen+nowLen)
	for i := range oldLen {
		item := c.values.item(old, i)
		items = append(items, listItem[V]{c.element(p, item), item, false})
	}
	for i := range nowLen {
		item := c.values.item(now, i)
		items = append(items, listItem[V]{c.element(p, item), item, true})
	}
	if c.unsupported {
		return nil
	}
	slices.SortStableFunc(items, func(a, b listItem[V]) int { return a.compare(b.element) })
	for i := 1; i < len(items); i++ { // equal elements are in order: before, after
		if items[i].element == items[i-1].element && items[i].after == items[i-1].after {
			c.unsupported = true // a duplicate
			return nil
		}
	}
	mark := c.nodes.mark()
	for len(items) > 0 && !c.unsupported {
		var before, after V
		first := items[0]
		if items = items[1:]; first.after {
			after = first.value
		} else {
			before = first.value
		}
		if len(items) > 0 && items[0].element == first.element {
			after, items = items[0].value, items[1:]
		}
		if n := c.compare(p.elem, before, after, first.element); !n.isEmpty() {
			c.nodes.push(n)
		}
	}
	return c.nodes.pop(mark)
}

// element returns the element of a path for an element of a list.
func (c *comparer[V]) element(p *plan, v V) element {
	b := make([]byte, 0, 48)
	if p.kind == set {
		return element{string(c.appendKey(b, p.isInteger, v)), valueElement}
	}
	for i := range p.keys {
		key := &p.keys[i]
		b = append(b, keySeparator(i))
		b = append(b, quote...)
		b = append(b, key.field.name...)
		b = append(b, quote...)
		b = append(b, ':')
		if part := c.values.field(key.field, v); !key.required && c.values.isAbsent(part) {
			b = c.appendQuoted(b, key.defaultValue)
		} else {
			b = c.appendKey(b, key.isInteger, part)
		}
	}
	return element{string(append(b, '}')), keyElement}
}

// keySeparator returns the character before part i of a key.
func keySeparator(i int) byte {
	if i == 0 {
		return '{'
	}
	return ','
}

// maxDigits is the maximum number of digits of an integer that the library, which parses it as a
// float, reads from FieldsV1 without loss.
const maxDigits = 15

// appendKey appends a string or an integer.
func (c *comparer[V]) appendKey(b []byte, isInteger bool, v V) []byte {
	k, ok := c.values.key(v)
	switch {
	case !ok || k.isInteger != isInteger:
		c.unsupported = true
		return b
	case !isInteger:
		return c.appendQuoted(b, k.text)
	}
	start := len(b)
	b = strconv.AppendInt(b, k.integer, 10)
	c.unsupported = c.unsupported || len(b)-start > maxDigits
	return b
}

func (c *comparer[V]) appendQuoted(b []byte, s string) []byte {
	c.unsupported = c.unsupported || !isPlainValue(s)
	b = append(b, quote...)
	b = append(b, s...)
	return append(b, quote...)
}
