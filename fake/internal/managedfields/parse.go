package managedfields

import (
	"strings"
)

// parse reads a set in FieldsV1 form for a write that touched some fields. It
// accepts what the library would write itself, letter by letter, about fields that
// the plan knows, and nothing else: what it accepts the library would read, find in
// keeping with the schema, and write again unchanged.
//
// All of it is checked, but only what the write touched is taken apart; the rest
// stays text.
func parse(p *plan, raw string, touched []node, nodes *nodeArena) ([]node, bool) {
	r := reader{rest: raw, nodes: nodes}
	set, self := r.object(p, touched)
	return set, !r.bad && !self && len(set) > 0 && r.rest == ""
}

// reader reads FieldsV1 text.
type reader struct {
	rest  string
	bad   bool
	nodes *nodeArena
}

// next takes token off the text; it must be there.
func (r *reader) next(token string) {
	if !r.try(token) {
		r.bad = true
	}
}

// try takes token off the text if it is there.
func (r *reader) try(token string) bool {
	rest, ok := strings.CutPrefix(r.rest, token)
	r.rest = rest
	return ok
}

// object reads what is below a field of plan p and whether the field is a member.
func (r *reader) object(p *plan, touched []node) (set []node, self bool) {
	self, empty := r.open()
	if empty {
		return nil, true
	}
	mark := r.nodes.mark()
	var last element
	for first := true; first || r.more(); first = false {
		e, below := r.element(p)
		if r.bad || !first && last.compare(e) >= 0 {
			r.bad = true
			break
		}
		last = e
		n := node{element: e}
		if touched = from(touched, e); len(touched) > 0 && touched[0].element == e {
			n.children, n.member = r.object(below, touched[0].children)
		} else {
			at := r.rest
			n.member = r.skip(below)
			n.below = at[:len(at)-len(r.rest)]
		}
		r.nodes.add(n)
	}
	return r.nodes.since(mark), self
}

// skip checks what is below a field of plan p and tells whether it is a member.
func (r *reader) skip(p *plan) (self bool) {
	self, empty := r.open()
	if empty {
		return true
	}
	var last element
	for first := true; first || r.more(); first = false {
		e, below := r.element(p)
		if r.bad || !first && last.compare(e) >= 0 {
			r.bad = true
			break
		}
		last = e
		r.skip(below)
	}
	return self
}

// open reads the beginning of what is below a field: whether the field is a
// member, and whether there is nothing below.
func (r *reader) open() (self, empty bool) {
	r.next("{")
	if r.try("}") {
		return true, true
	}
	return r.try(`".":{},`), false
}

// more reads what stands behind an element and reports whether another follows.
func (r *reader) more() bool {
	if r.bad || r.try("}") {
		return false
	}
	r.next(",")
	return !r.bad
}

// element reads one step below a field of plan p and gives the plan of what it
// leads to.
func (r *reader) element(p *plan) (element, *plan) {
	r.next(`"`)
	if len(r.rest) < 3 || r.rest[1] != ':' {
		r.bad = true
		return element{}, nil
	}
	letter := r.rest[0]
	r.rest = r.rest[2:]
	switch {
	case letter == 'f' && (p.shape == structure || p.shape == dictionary || p.shape == loose):
		return r.name(p)
	case letter == 'k' && p.shape == keyed:
		return r.key(p)
	case letter == 'v' && p.shape == set:
		at := r.rest
		r.value(p.number)
		e := element{at[:len(at)-len(r.rest)], valueElement}
		r.next(`":`)
		return e, p.elem
	}
	r.bad = true
	return element{}, nil
}

func (r *reader) name(p *plan) (element, *plan) {
	name, rest, ok := strings.Cut(r.rest, `"`)
	if !ok || !plain(name) {
		r.bad = true
		return element{}, nil
	}
	r.rest = rest
	r.next(":")
	below, f := p.below(name)
	if below == nil || f != nil && f.unowned {
		r.bad = true
		return element{}, nil
	}
	r.bad = r.bad || below.shape == odd
	return element{name, fieldElement}, below
}

func (r *reader) key(p *plan) (element, *plan) {
	at := r.rest
	for i := range p.keys {
		r.next(string(separator(i)))
		r.next(quote)
		r.next(p.keys[i].field.name)
		r.next(quote)
		r.next(":")
		r.value(p.keys[i].number)
	}
	r.next("}")
	e := element{at[:len(at)-len(r.rest)], keyElement}
	r.next(`":`)
	return e, p.elem
}

// value reads a string in escaped quotes, or an integer.
func (r *reader) value(number bool) {
	if number {
		r.integer()
		return
	}
	r.next(quote)
	text, rest, ok := strings.Cut(r.rest, quote)
	r.rest, r.bad = rest, r.bad || !ok || !plainValue(text)
}

// integer reads a number as the library writes it.
func (r *reader) integer() {
	end := strings.IndexAny(r.rest, `,}"`)
	if end < 1 || end > maxDigits {
		r.bad = true
		return
	}
	digits := strings.TrimPrefix(r.rest[:end], "-")
	if digits == "" || digits[0] == '0' && end > 1 || strings.Trim(digits, "0123456789") != "" {
		r.bad = true
	}
	r.rest = r.rest[end:]
}
