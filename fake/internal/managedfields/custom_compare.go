package managedfields

import (
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// customComparison is comparison for objects of JSON. In all that it is given nil stands
// for absent: a null anywhere is left to the library, and so is any value that does not
// suit the schema.
type customComparison struct {
	beyond bool
	nodes  *nodeArena
}

// customDifferences is differences for custom resources.
func customDifferences(p *plan, before, after map[string]any, nodes *nodeArena) ([]node, bool) {
	c := customComparison{nodes: nodes}
	n := c.compare(p, before, after, element{})
	return n.children, !c.beyond
}

// compare gives the node of one field, which is there before or after.
func (c *customComparison) compare(p *plan, before, after any, at element) node {
	n := node{element: at}
	if p.shape == loose {
		if p = c.deduced(before, after); c.beyond {
			return n
		}
	}
	switch p.shape {
	case leaf:
		c.suits(p, before)
		c.suits(p, after)
		return c.whole(before, after, n)
	case structure, dictionary, loose:
		return c.object(p, before, after, n)
	case keyed, set:
		return c.list(p, before, after, n)
	}
	c.beyond = true
	return n
}

// deduced gives the plan of a value that the schema says nothing of: maps are dictionaries
// of the like, all others have one owner.
func (c *customComparison) deduced(before, after any) *plan {
	_, was := before.(map[string]any)
	_, is := after.(map[string]any)
	if before != nil && after != nil && was != is {
		c.beyond = true // the library compares them by two schemas
	}
	if was || is {
		return &plan{shape: loose}
	}
	return &plan{shape: leaf, inside: &plan{shape: loose}}
}

// whole compares fields that have one owner.
func (c *customComparison) whole(before, after any, n node) node {
	switch {
	case before == nil:
		n.member = true
	case after == nil:
		n.removed = true
	default:
		n.member = !sameJSON(before, after)
	}
	return n
}

// object compares two maps.
func (c *customComparison) object(p *plan, before, after any, n node) node {
	old, now := c.mapOf(before), c.mapOf(after)
	if len(old) == 0 && len(now) == 0 { // such a field has one owner
		n.member, n.removed = before == nil, after == nil
		return n
	}
	mark := c.nodes.mark()
	for name, is := range now {
		c.member(p, name, old[name], is)
	}
	for name, was := range old {
		if _, stays := now[name]; !stays {
			c.member(p, name, was, nil)
		} else if was == nil {
			c.beyond = true
		}
	}
	if c.beyond {
		return n
	}
	n.children = c.nodes.since(mark)
	slices.SortFunc(n.children, func(a, b node) int { return strings.Compare(a.text, b.text) })
	n.member, n.removed = before == nil, after == nil
	return n
}

// mapOf gives a map; nil is one without anything in it.
func (c *customComparison) mapOf(v any) map[string]any {
	m, is := v.(map[string]any)
	c.beyond = c.beyond || v != nil && !is
	return m
}

// member compares the values of one field of a map.
func (c *customComparison) member(p *plan, name string, was, is any) {
	below, f := p.below(name)
	if c.beyond = c.beyond || below == nil || was == nil && is == nil; c.beyond {
		return
	}
	if f != nil && f.unowned {
		if !f.plan.sound {
			c.suits(f.plan, was)
			c.suits(f.plan, is)
		}
		return
	}
	child := c.compare(below, was, is, element{name, fieldElement})
	if f != nil && f.silent {
		child.member, child.removed = false, false
	}
	if child.worth() && !c.beyond {
		c.beyond = !plain(name)
		c.nodes.add(child)
	}
}

// below gives the plan of what a name leads to, nil if the schema does not have it, and
// the field if the schema names it.
func (p *plan) below(name string) (*plan, *planField) {
	if p.shape == loose {
		return p, nil
	}
	if f := p.find(name); f != nil {
		return f.plan, f
	}
	return p.elem, nil
}

// suits looks through a value that is not compared field by field for what does not
// suit the schema.
func (c *customComparison) suits(p *plan, v any) {
	if v == nil || c.beyond {
		return
	}
	switch {
	case p.shape == leaf && p.inside != nil:
		c.suits(p.inside, v)
	case p.shape == leaf:
		c.beyond = !suitsScalar(p.scalar, v)
	case p.shape == loose:
		c.beyond = hasNull(v)
	case p.shape == structure || p.shape == dictionary:
		for name, value := range c.mapOf(v) {
			below, _ := p.below(name)
			if c.beyond = c.beyond || below == nil || value == nil; !c.beyond {
				c.suits(below, value)
			}
		}
	case p.shape == sequence || p.shape == keyed || p.shape == set:
		for _, item := range c.listOf(v) {
			if c.suits(p.elem, item); p.shape != sequence && !c.beyond {
				c.element(p, item)
			}
		}
	default:
		c.beyond = true
	}
}

// suitsScalar reports whether a value is a scalar of a type.
func suitsScalar(want schema.Scalar, v any) bool {
	switch v.(type) {
	case string:
		return want == schema.String || want == schema.Untyped
	case bool:
		return want == schema.Boolean || want == schema.Untyped
	case int64, float64:
		return want == schema.Numeric || want == schema.Untyped
	}
	return false
}

// hasNull reports whether a null, or what is no JSON, is anywhere in a value.
func hasNull(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			if hasNull(value) {
				return true
			}
		}
		return false
	case []any:
		return slices.ContainsFunc(v, hasNull)
	}
	return !suitsScalar(schema.Untyped, v)
}

// sameJSON is what the library says of two values: 1 is 1.0.
func sameJSON(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for name, value := range x {
			if other, has := y[name]; !has || !sameJSON(value, other) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, sameJSON)
	case int64:
		if y, ok := b.(float64); ok {
			return float64(x) == y
		}
	case float64:
		if y, ok := b.(int64); ok {
			return x == float64(y)
		}
	}
	return a == b
}

// element spells what tells a list element apart.
func (c *customComparison) element(p *plan, v any) element {
	b := make([]byte, 0, 48)
	if p.shape == set {
		return element{string(c.appendKey(b, p.number, v)), valueElement}
	}
	m := c.mapOf(v)
	for i := range p.keys {
		b = append(b, separator(i))
		b = append(b, quote...)
		b = append(b, p.keys[i].field.name...)
		b = append(b, quote...)
		b = append(b, ':')
		b = c.appendKey(b, p.keys[i].number, m[p.keys[i].field.name])
	}
	return element{string(append(b, '}')), keyElement}
}

// appendKey spells a string or an integer, whichever the schema asks for.
func (c *customComparison) appendKey(b []byte, number bool, v any) []byte {
	switch v := v.(type) {
	case string:
		c.beyond = c.beyond || number || !plainValue(v)
		b = append(b, quote...)
		b = append(b, v...)
		return append(b, quote...)
	case int64:
		at := len(b)
		b = strconv.AppendInt(b, v, 10)
		c.beyond = c.beyond || !number || len(b)-at > maxDigits
		return b
	}
	c.beyond = true
	return b
}
