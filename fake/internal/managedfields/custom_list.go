package managedfields

import "slices"

// list compares lists whose elements have owners.
func (c *customComparison) list(p *plan, before, after any, n node) node {
	old, now := c.listOf(before), c.listOf(after)
	if c.beyond {
		return n
	}
	n.member, n.removed = before == nil, after == nil
	if len(old) == 0 && len(now) == 0 { // such a field has one owner
		return n
	}
	if !c.abreast(p, old, now, &n) {
		n.children = c.matched(p, old, now)
	}
	return n
}

// listOf gives a list; nil is one without anything in it.
func (c *customComparison) listOf(v any) []any {
	l, is := v.([]any)
	c.beyond = c.beyond || v != nil && !is || slices.ContainsFunc(l, func(item any) bool { return item == nil })
	return l
}

// abreast compares lists that have the same elements in the same order, as most do, and
// none twice. False means that they are not such.
func (c *customComparison) abreast(p *plan, old, now []any, n *node) bool {
	if len(old) != len(now) || len(now) > fewItems {
		return false
	}
	for i := range now {
		if !sameCustomItem(p, old[i], now[i]) {
			return false
		}
		for j := range i {
			if sameCustomItem(p, now[j], now[i]) {
				return false
			}
		}
	}
	mark := c.nodes.mark()
	for i := range now {
		child := c.compare(p.elem, old[i], now[i], element{})
		if child.worth() && !c.beyond {
			child.element = c.element(p, now[i])
			c.nodes.add(child)
		}
	}
	if c.beyond {
		return true
	}
	n.children = c.nodes.since(mark)
	slices.SortFunc(n.children, func(a, b node) int { return a.compare(b.element) })
	return true
}

// sameCustomItem reports whether two list elements are told apart by nothing. What has
// not all keys, or others than strings and integers, is like nothing.
func sameCustomItem(p *plan, a, b any) bool {
	if p.shape == set {
		return sameCustomKey(a, b)
	}
	x, isX := a.(map[string]any)
	y, isY := b.(map[string]any)
	if !isX || !isY {
		return false
	}
	for i := range p.keys {
		if name := p.keys[i].field.name; !sameCustomKey(x[name], y[name]) {
			return false
		}
	}
	return true
}

func sameCustomKey(a, b any) bool {
	switch a.(type) {
	case string, int64:
		return a == b
	}
	return false
}

// customItem is an element of a list before or after the write.
type customItem struct {
	element
	value any
	after bool
}

// matched compares any lists, element by element with the same key.
func (c *customComparison) matched(p *plan, old, now []any) []node {
	items := make([]customItem, 0, len(old)+len(now))
	for _, v := range old {
		items = append(items, customItem{c.element(p, v), v, false})
	}
	for _, v := range now {
		items = append(items, customItem{c.element(p, v), v, true})
	}
	if c.beyond {
		return nil
	}
	slices.SortStableFunc(items, func(a, b customItem) int { return a.compare(b.element) })
	for i := 1; i < len(items); i++ { // those before the write come first
		if items[i].element == items[i-1].element && items[i].after == items[i-1].after {
			c.beyond = true // the list has it twice
			return nil
		}
	}
	mark := c.nodes.mark()
	for len(items) > 0 && !c.beyond {
		var was, is any
		one := items[0]
		if items = items[1:]; one.after {
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
	if c.beyond {
		return nil
	}
	return c.nodes.since(mark)
}
