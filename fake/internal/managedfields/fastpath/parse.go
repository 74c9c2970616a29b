package fastpath

import (
	"strings"
)

// parse parses a set of field paths in FieldsV1. It accepts only what the library itself would
// write, byte by byte, and only paths that the plan has. The library would read such a set, find
// that it conforms to the schema and write it again unchanged.
//
// parse validates all of raw but builds nodes only for the paths in changes and their siblings. The
// rest stays text.
func parse(p *plan, raw string, changes []node, nodes *nodeArena) ([]node, bool) {
	r := parser{rest: raw, nodes: nodes}
	set, self := r.children(p, changes)
	return set, !r.failed && !self && len(set) > 0 && r.rest == ""
}

// parseAll parses a set and builds all of its nodes.
func parseAll(p *plan, raw string, nodes *nodeArena) ([]node, bool) {
	r := parser{rest: raw, nodes: nodes, all: true}
	set, self := r.children(p, nil)
	return set, !r.failed && !self && r.rest == ""
}

// parser parses FieldsV1 text.
type parser struct {
	rest   string
	failed bool
	nodes  *nodeArena
	// all is whether nodes are built for all paths.
	all bool
}

// expect consumes token, and fails if the text does not begin with it.
func (r *parser) expect(token string) {
	if !r.accept(token) {
		r.failed = true
	}
}

// accept consumes token if the text begins with it, and reports whether it does.
func (r *parser) accept(token string) bool {
	rest, ok := strings.CutPrefix(r.rest, token)
	r.rest = rest
	return ok
}

// children parses the paths below a field of plan p. self is whether the field itself is a member.
func (r *parser) children(p *plan, changes []node) (set []node, self bool) {
	self, empty := r.open()
	if empty {
		return nil, true
	}
	mark := r.nodes.mark()
	var last element
	for first := true; first || r.next(); first = false {
		e, below := r.element(p)
		if r.failed || !first && last.compare(e) >= 0 {
			r.failed = true
			break
		}
		last = e
		n := node{element: e}
		if changes = seek(changes, e); len(changes) > 0 && changes[0].element == e {
			n.children, n.member = r.children(below, changes[0].children)
		} else if r.all {
			n.children, n.member = r.children(below, nil)
		} else {
			at := r.rest
			n.member = r.skip(below)
			n.unparsed = at[:len(at)-len(r.rest)]
		}
		r.nodes.push(n)
	}
	return r.nodes.pop(mark), self
}

// skip validates the paths below a field of plan p and reports whether the field itself is a
// member.
func (r *parser) skip(p *plan) (self bool) {
	self, empty := r.open()
	if empty {
		return true
	}
	var last element
	for first := true; first || r.next(); first = false {
		e, below := r.element(p)
		if r.failed || !first && last.compare(e) >= 0 {
			r.failed = true
			break
		}
		last = e
		r.skip(below)
	}
	return self
}

// open parses the beginning of the paths below a field. self is whether the field itself is a
// member, empty whether it has no other paths.
func (r *parser) open() (self, empty bool) {
	r.expect("{")
	if r.accept("}") {
		return true, true
	}
	return r.accept(`".":{},`), false
}

// next parses the separator after an element and reports whether another element follows.
func (r *parser) next() bool {
	if r.failed || r.accept("}") {
		return false
	}
	r.expect(",")
	return !r.failed
}

// element parses an element below a field of plan p. It returns the element and the plan of its
// field.
func (r *parser) element(p *plan) (element, *plan) {
	r.expect(`"`)
	if len(r.rest) < 3 || r.rest[1] != ':' {
		r.failed = true
		return element{}, nil
	}
	letter := r.rest[0]
	r.rest = r.rest[2:]
	switch {
	case letter == 'f' && p.isObject():
		return r.name(p)
	case letter == 'k' && p.kind == keyedList:
		return r.key(p)
	case letter == 'v' && p.kind == set:
		at := r.rest
		r.scalar(p.isInteger)
		e := element{at[:len(at)-len(r.rest)], valueElement}
		r.expect(`":`)
		return e, p.elem
	}
	r.failed = true
	return element{}, nil
}

func (r *parser) name(p *plan) (element, *plan) {
	name, rest, ok := strings.Cut(r.rest, `"`)
	if !ok || !isPlain(name) {
		r.failed = true
		return element{}, nil
	}
	r.rest = rest
	r.expect(":")
	below, f := p.member(name)
	if below == nil || f != nil && f.excluded {
		r.failed = true
		return element{}, nil
	}
	r.failed = r.failed || below.kind == unsupported
	return element{name, fieldElement}, below
}

func (r *parser) key(p *plan) (element, *plan) {
	at := r.rest
	for i := range p.keys {
		r.expect(string(keySeparator(i)))
		r.expect(quote)
		r.expect(p.keys[i].field.name)
		r.expect(quote)
		r.expect(":")
		r.scalar(p.keys[i].isInteger)
	}
	r.expect("}")
	e := element{at[:len(at)-len(r.rest)], keyElement}
	r.expect(`":`)
	return e, p.elem
}

// scalar parses an integer or a string with escaped quotes.
func (r *parser) scalar(isInteger bool) {
	if isInteger {
		r.integer()
		return
	}
	r.expect(quote)
	text, rest, ok := strings.Cut(r.rest, quote)
	r.rest, r.failed = rest, r.failed || !ok || !isPlainValue(text)
}

// integer parses an integer in the spelling of the library.
func (r *parser) integer() {
	end := strings.IndexAny(r.rest, `,}"`)
	if end < 1 || end > maxDigits {
		r.failed = true
		return
	}
	digits := strings.TrimPrefix(r.rest[:end], "-")
	if digits == "" || digits[0] == '0' && end > 1 || strings.Trim(digits, "0123456789") != "" {
		r.failed = true
	}
	r.rest = r.rest[end:]
}
