package fastpath

import (
	"strconv"
	"strings"
	"sync"
)

// element is one step of a field path in the spelling of FieldsV1, without the letter and the
// colon. Its text is escaped for the JSON string that contains it: a field is data, an element of a
// keyed list is {\"name\":\"x\"}. The text is printable ASCII without other quotes and backslashes,
// so that two elements are equal if and only if their texts and kinds are.
type element struct {
	text string
	kind elementKind
}

// elementKind is the kind of an element. The constants are in the order in which the library sorts
// elements of different kinds.
type elementKind byte

const (
	fieldElement elementKind = iota
	keyElement
	valueElement
)

// letter returns the letter before the colon in FieldsV1.
func (k elementKind) letter() byte { return "fkv"[k] }

// name returns the name of the element in decoded FieldsV1.
func (e element) name() string { return string([]byte{e.kind.letter(), ':'}) + unescape(e.text) }

// unescape returns the text of an element outside of a JSON string.
func unescape(s string) string { return strings.ReplaceAll(s, quote, `"`) }

// compare orders elements with the same parent as the library does: names and strings by bytes,
// keys part by part, integers by value.
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
	return compareIntegers(e.text, other.text)
}

// quote is a quotation mark in the text of an element.
const quote = `\"`

func unquote(s string) string {
	return strings.TrimSuffix(strings.TrimPrefix(s, quote), quote)
}

// compareKeys compares two keys of one list. Both have the same fields in the same order.
func compareKeys(a, b string) int {
	for a != "" && b != "" {
		// The names and the colons are equal.
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
			x, a = cutInteger(a)
			y, b = cutInteger(b)
			if c := compareIntegers(x, y); c != 0 {
				return c
			}
		}
		a, b = a[1:], b[1:] // the comma or the closing brace
	}
	return 0
}

// cutInteger splits the integer at the beginning of a part of a key from the rest.
func cutInteger(s string) (digits, rest string) {
	end := strings.IndexAny(s, ",}")
	return s[:end], s[end:]
}

func compareIntegers(a, b string) int {
	x, _ := strconv.ParseInt(a, 10, 64) // at most maxDigits
	y, _ := strconv.ParseInt(b, 10, 64)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// node is a field path in a set of field paths or in a set of changes, or the parent of such a
// path. Each node of a set is a member or has children. Children are sorted.
type node struct {
	element
	// member is whether the set contains the path. In a set of changes: whether the write changed
	// or added the field.
	member bool
	// removed is whether the write removed the field. It is used in sets of changes only.
	removed  bool
	children []node
	// unparsed has the children as FieldsV1 text if the write changed none of them.
	unparsed string
}

// isEmpty reports whether a node can be left out of its set.
func (n *node) isEmpty() bool {
	return !n.member && !n.removed && len(n.children) == 0 && n.unparsed == ""
}

// nodeArena allocates the nodes of trees in blocks. A tree is built from its leaves: completed
// nodes are pushed on a stack, and the nodes since a mark become the children of their parent.
type nodeArena struct {
	stack []node
	// block is the latest block, and free its end that is not used yet.
	block, free []node
	// text is for a set that is encoded.
	text []byte
}

// maxReused is the size of the largest block, and maxReusedText that of the longest text, that
// another arena uses again.
const (
	maxReused     = 512
	maxReusedText = 16 << 10
)

// arenaPool has arenas whose memory is used again. Most sets of fields exist only while a write is
// evaluated.
type arenaPool struct{ idle sync.Pool }

// get returns an arena without nodes.
func (p *arenaPool) get() *nodeArena {
	if a, ok := p.idle.Get().(*nodeArena); ok {
		return a
	}
	return &nodeArena{}
}

// put lets another arena use the memory of a. The nodes that a has returned must not be used any
// more.
func (p *arenaPool) put(a *nodeArena) {
	if len(a.block) > maxReused || cap(a.stack) > maxReused || cap(a.text) > maxReusedText {
		return
	}
	clear(a.block[:len(a.block)-len(a.free)])
	clear(a.stack[:cap(a.stack)])
	a.stack, a.free = a.stack[:0], a.block
	p.idle.Put(a)
}

// mark returns the position on the stack where the children of the next node begin.
func (a *nodeArena) mark() int { return len(a.stack) }

// push adds completed nodes.
func (a *nodeArena) push(nodes ...node) {
	if a.stack == nil {
		a.stack = make([]node, 0, 8)
	}
	a.stack = append(a.stack, nodes...)
}

// pop removes the nodes since mark from the stack and returns a copy of them.
func (a *nodeArena) pop(mark int) []node {
	top := a.stack[mark:]
	if len(top) == 0 {
		return nil
	}
	if len(a.free) < len(top) {
		a.block = make([]node, max(len(top), 2*len(a.block), 8))
		a.free = a.block
	}
	children := a.free[:len(top):len(top)]
	a.free = a.free[len(top):]
	copy(children, top)
	a.stack = a.stack[:mark]
	return children
}

// difference returns the set without the paths that a write changed, added or removed. Paths below
// those stay (SA-11). It returns set itself if no path is left out.
func (a *nodeArena) difference(set, changes []node) []node {
	mark, copied := a.mark(), false // until the first difference, no node of set is on the stack
	for i := range set {
		n := &set[i]
		changes = seek(changes, n.element)
		left := *n
		if len(changes) > 0 && changes[0].element == n.element {
			left.member = n.member && !changes[0].member && !changes[0].removed
			left.children = a.difference(n.children, changes[0].children)
		}
		unchanged := left.member == n.member && len(left.children) == len(n.children) &&
			(len(left.children) == 0 || &left.children[0] == &n.children[0])
		if unchanged && !copied {
			continue
		}
		if !copied {
			a.push(set[:i]...)
			copied = true
		}
		if !left.isEmpty() {
			a.push(left)
		}
	}
	if !copied {
		return set
	}
	return a.pop(mark)
}

// seek returns the nodes of a set that do not sort before e.
func seek(set []node, e element) []node {
	for len(set) > 0 && set[0].compare(e) < 0 {
		set = set[1:]
	}
	return set
}

// union returns the paths of both sets. Nodes of both sets must not have unparsed children.
func (a *nodeArena) union(x, y []node) []node {
	if len(x) == 0 {
		return y
	}
	if len(y) == 0 {
		return x
	}
	mark := a.mark()
	for len(x) > 0 && len(y) > 0 {
		switch c := x[0].compare(y[0].element); {
		case c < 0:
			a.push(x[0])
			x = x[1:]
		case c > 0:
			a.push(y[0])
			y = y[1:]
		default:
			children := a.union(x[0].children, y[0].children)
			a.push(node{element: x[0].element, member: x[0].member || y[0].member, children: children})
			x, y = x[1:], y[1:]
		}
	}
	a.push(x...)
	a.push(y...)
	return a.pop(mark)
}

// setPaths returns the set of the paths that a write changed or added. It returns changes itself if
// the write removed no field.
func (a *nodeArena) setPaths(changes []node) []node {
	if !hasRemoved(changes) {
		return changes
	}
	mark := a.mark()
	for _, n := range changes {
		children := a.setPaths(n.children)
		if n.member || len(children) > 0 {
			a.push(node{element: n.element, member: n.member, children: children})
		}
	}
	return a.pop(mark)
}

func hasRemoved(changes []node) bool {
	for i := range changes {
		if changes[i].removed || hasRemoved(changes[i].children) {
			return true
		}
	}
	return false
}

// appendSet appends a set as FieldsV1. self is whether the parent is a member.
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
		if set[i].unparsed != "" {
			b = append(b, set[i].unparsed...)
			continue
		}
		b = appendSet(b, set[i].children, set[i].member)
	}
	return append(b, '}')
}
