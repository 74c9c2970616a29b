package managedfields

import (
	"strconv"
	"strings"
)

// element is one step of a path, spelt as in FieldsV1, its text already escaped
// for the JSON string that it stands in: name and data of f:data, {\"name\":\"x\"}
// of k:{\"name\":\"x\"}. It is plain: printable ASCII, no quotes or backslashes
// but those escapes. So texts are equal exactly if the steps are.
type element struct {
	text string
	kind elementKind
}

// elementKind orders elements of different kinds as the library does.
type elementKind byte

const (
	fieldElement elementKind = iota
	keyElement
	valueElement
)

// letter is what stands before the colon.
func (k elementKind) letter() byte { return "fkv"[k] }

// compare orders the elements at one place as the library does: names and strings
// by bytes, the fields of keys one after the other, integers by size.
func (e element) compare(other element) int {
	switch {
	case e.kind != other.kind:
		return int(e.kind) - int(other.kind)
	case e.kind == keyElement:
		return compareKeys(e.text, other.text)
	case e.kind == fieldElement:
		return strings.Compare(e.text, other.text)
	case strings.HasPrefix(e.text, quote):
		return strings.Compare(unquote(e.text), unquote(other.text))
	}
	return compareNumbers(e.text, other.text)
}

// quote is a quotation mark inside the JSON string of an element.
const quote = `\"`

func unquote(s string) string {
	return strings.TrimSuffix(strings.TrimPrefix(s, quote), quote)
}

// compareKeys compares two keys of one list, which have the same fields in the
// same order.
func compareKeys(a, b string) int {
	for a != "" && b != "" {
		// The name and the colon are the same in both.
		_, a, _ = strings.Cut(a, ":")
		_, b, _ = strings.Cut(b, ":")
		var x, y string
		if strings.HasPrefix(a, quote) && strings.HasPrefix(b, quote) {
			x, a, _ = strings.Cut(a[len(quote):], quote)
			y, b, _ = strings.Cut(b[len(quote):], quote)
			if c := strings.Compare(x, y); c != 0 {
				return c
			}
		} else {
			x, a = number(a)
			y, b = number(b)
			if c := compareNumbers(x, y); c != 0 {
				return c
			}
		}
		a, b = a[1:], b[1:] // the comma or the closing brace
	}
	return 0
}

// number splits off the integer that s begins with.
func number(s string) (digits, rest string) {
	end := strings.IndexAny(s, ",}")
	return s[:end], s[end:]
}

func compareNumbers(a, b string) int {
	x, _ := strconv.ParseInt(a, 10, 64) // at most fifteen digits
	y, _ := strconv.ParseInt(b, 10, 64)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// node is a field in a set of fields, or only on the way to some. In a set, every
// node is a member or has children, and children are in order.
type node struct {
	element
	// member fields are in the set. For a node of a comparison: the write set the
	// field (changed it or added it).
	member bool
	// removed is for comparisons only: the write removed the field.
	removed  bool
	children []node
	// below is set instead of children, in FieldsV1 form, where a write touched
	// nothing: it stays as it is.
	below string
}

// worth reports whether a node says anything.
func (n *node) worth() bool {
	return n.member || n.removed || len(n.children) > 0 || n.below != ""
}

// nodeArena is where trees grow, leaves first, with few allocations: children are
// collected on a stack and moved to their place when they are complete.
type nodeArena struct {
	stack []node
	room  []node
	grown int
}

func newNodeArena() *nodeArena { return &nodeArena{stack: make([]node, 0, 8)} }

// mark is where the children of the next node will begin.
func (a *nodeArena) mark() int { return len(a.stack) }

// add appends a complete child.
func (a *nodeArena) add(n node) { a.stack = append(a.stack, n) }

// since takes the children that were added since the mark off the stack.
func (a *nodeArena) since(mark int) []node {
	grown := a.stack[mark:]
	if len(grown) == 0 {
		return nil
	}
	if len(a.room) < len(grown) {
		a.grown = max(len(grown), 2*a.grown, 8)
		a.room = make([]node, a.grown)
	}
	children := a.room[:len(grown):len(grown)]
	a.room = a.room[len(grown):]
	copy(children, grown)
	a.stack = a.stack[:mark]
	return children
}

// minus gives the set a without the fields that a write set or removed: those at
// the very same paths, not those below them (SA-11).
func minus(a, touched []node) []node {
	var out []node
	copied := false // until something is left out, out is a[:i]
	for i := range a {
		n := &a[i]
		touched = from(touched, n.element)
		left := *n
		if len(touched) > 0 && touched[0].element == n.element {
			left.member = n.member && !touched[0].member && !touched[0].removed
			left.children = minus(n.children, touched[0].children)
		}
		unchanged := left.member == n.member && len(left.children) == len(n.children) &&
			(len(left.children) == 0 || &left.children[0] == &n.children[0])
		if unchanged && !copied {
			continue
		}
		if !copied {
			out, copied = append(make([]node, 0, len(a)), a[:i]...), true
		}
		if left.worth() {
			out = append(out, left)
		}
	}
	if !copied {
		return a
	}
	return out
}

// from gives the nodes of a set that do not stand before e.
func from(set []node, e element) []node {
	for len(set) > 0 && set[0].compare(e) < 0 {
		set = set[1:]
	}
	return set
}

// union gives the fields of both sets. They have a field in common only if it was
// touched.
func union(a, b []node) []node {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	out := make([]node, 0, max(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		switch c := a[0].compare(b[0].element); {
		case c < 0:
			out, a = append(out, a[0]), a[1:]
		case c > 0:
			out, b = append(out, b[0]), b[1:]
		default:
			out = append(out, node{
				element:  a[0].element,
				member:   a[0].member || b[0].member,
				children: union(a[0].children, b[0].children),
			})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// taken gives the set of the fields that a write set, from its comparison, which
// it is itself if nothing was removed.
func taken(touched []node) []node {
	if !anyRemoved(touched) {
		return touched
	}
	out := make([]node, 0, len(touched))
	for _, n := range touched {
		children := taken(n.children)
		if n.member || len(children) > 0 {
			out = append(out, node{element: n.element, member: n.member, children: children})
		}
	}
	return out
}

func anyRemoved(touched []node) bool {
	for i := range touched {
		if touched[i].removed || anyRemoved(touched[i].children) {
			return true
		}
	}
	return false
}

// encode gives a set in FieldsV1 form.
func encode(set []node) []byte {
	return appendSet(make([]byte, 0, encodedSize(set)), set, false)
}

// encodedSize is the number of bytes of a set in FieldsV1 form, or a little more.
func encodedSize(set []node) int {
	n := len(`{}`) + len(`".":{},`)
	for i := range set {
		n += len(`,"f:":`) + len(set[i].text) + len(set[i].below) + encodedSize(set[i].children)
	}
	return n
}

// appendSet appends a set in FieldsV1 form. self tells that the field around it
// is a member too.
func appendSet(b []byte, set []node, self bool) []byte {
	b = append(b, '{')
	if self && len(set) > 0 {
		b = append(b, `".":{},`...)
	}
	for i := range set {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"', set[i].kind.letter(), ':')
		b = append(b, set[i].text...)
		b = append(b, '"', ':')
		if set[i].below != "" {
			b = append(b, set[i].below...)
			continue
		}
		b = appendSet(b, set[i].children, set[i].member)
	}
	return append(b, '}')
}
