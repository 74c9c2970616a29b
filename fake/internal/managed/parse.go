package managed

import (
	"strings"
)

// parse reads a set in FieldsV1 form. It accepts what the library would write
// itself, letter by letter, about fields that the plan knows, and nothing else:
// what it accepts the library would read, find in keeping with the schema, and
// write again unchanged.
func parse(p *plan, raw string) ([]node, bool) {
	r := reader{rest: raw}
	// Every node has a brace of its own.
	r.nodes.room = make([]node, strings.Count(raw, "{"))
	set, self := r.object(p)
	return set, !r.bad && !self && len(set) > 0 && r.rest == ""
}

// reader reads FieldsV1 text.
type reader struct {
	rest  string
	bad   bool
	nodes nursery
}

// next takes token off the text; it must be there.
func (r *reader) next(token string) {
	rest, ok := strings.CutPrefix(r.rest, token)
	r.rest, r.bad = rest, r.bad || !ok
}

// object reads what is below a field of plan p and whether the field is a member.
func (r *reader) object(p *plan) (set []node, self bool) {
	r.next("{")
	if strings.HasPrefix(r.rest, "}") {
		r.next("}")
		return nil, true
	}
	if strings.HasPrefix(r.rest, `".":{},"`) {
		r.next(`".":{},`)
		self = true
	}
	mark := r.nodes.mark()
	var last element
	for !r.bad {
		var n node
		var below *plan
		n.element, below = r.element(p)
		if r.bad {
			break
		}
		n.children, n.member = r.object(below)
		r.bad = r.bad || r.nodes.mark() > mark && last.compare(n.element) >= 0
		last = n.element
		r.nodes.add(n)
		if strings.HasPrefix(r.rest, "}") {
			r.next("}")
			return r.nodes.since(mark), self
		}
		r.next(",")
	}
	return nil, false
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
	case letter == 'f' && (p.shape == structure || p.shape == dictionary):
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
	below := p.elem
	if p.shape == structure {
		f := p.field(name)
		if f == nil {
			r.bad = true
			return element{}, nil
		}
		below = f.plan
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
