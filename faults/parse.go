package faults

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// Parse reads one rule in the form that [Rule.String] gives; the package
// documentation has the grammar. An error is a [*SyntaxError]. Whether the
// effects fit the condition is not looked at here but by [Rule.Validate] and
// [Set.Add].
func Parse(text string) (Rule, error) {
	tokens, err := lex(text)
	if err != nil {
		return Rule{}, err
	}
	p := &parser{src: text, tokens: tokens}
	return p.rule()
}

// ParseAll reads a text with one rule a line. Blank lines and what follows a "#"
// outside quotes are skipped.
func ParseAll(text string) ([]Rule, error) {
	var rules []Rule
	line := 0
	for src := range strings.SplitSeq(text, "\n") {
		line++
		tokens, err := lex(src)
		if err == nil && tokens[0].kind == tokenEnd {
			continue
		}
		var r Rule
		if err == nil {
			r, err = (&parser{src: src, tokens: tokens}).rule()
		}
		if err != nil {
			if at := (*SyntaxError)(nil); errors.As(err, &at) {
				at.Line = line
			}
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// maxDepth bounds how deep conditions nest.
const maxDepth = 100

// parser reads by recursive descent, one method a line of the grammar.
type parser struct {
	src    string
	tokens []token
	next   int
	depth  int
}

func (p *parser) peek() token { return p.tokens[p.next] }

func (p *parser) take() token {
	t := p.tokens[p.next]
	if t.kind != tokenEnd {
		p.next++
	}
	return t
}

func (p *parser) accept(mark string) bool {
	if p.peek().is(mark) {
		p.next++
		return true
	}
	return false
}

func (p *parser) fail(t token, format string, args ...any) error {
	return errorAt(p.src, t.pos, format, args...)
}

func (p *parser) expected(what string) error {
	t := p.peek()
	return p.fail(t, "expected %s, found %s", what, t)
}

func (p *parser) keyword(word, what string) error {
	if t := p.peek(); t.kind != tokenWord || t.text != word {
		return p.expected(what)
	}
	p.next++
	return nil
}

// rule = [ name ":" ] "when" or "do" effect { "," effect } .
func (p *parser) rule() (r Rule, err error) {
	named := false
	if t := p.peek(); t.kind == tokenWord || t.kind == tokenString {
		if p.tokens[p.next+1].is(":") {
			r.Name, named = t.text, true
			p.next += 2
		}
	}
	start := `"when", or a name and ":"`
	if named {
		start = `"when"`
	}
	if err := p.keyword("when", start); err != nil {
		return Rule{}, err
	}
	if r.When, err = p.or(); err != nil {
		return Rule{}, err
	}
	if err := p.keyword("do", `"&&", "||" or "do"`); err != nil {
		return Rule{}, err
	}
	for more := true; more; more = p.accept(",") {
		e, err := p.effect()
		if err != nil {
			return Rule{}, err
		}
		r.Do = append(r.Do, e)
	}
	if p.peek().kind != tokenEnd {
		return Rule{}, p.expected(`"," and another effect, or the end`)
	}
	return r, nil
}

// or = and { "||" and } .
func (p *parser) or() (Pred, error) { return p.series("||", p.and, Or) }

// and = unary { "&&" unary } .
func (p *parser) and() (Pred, error) { return p.series("&&", p.unary, And) }

func (p *parser) series(mark string, part func() (Pred, error), join func(...Pred) Pred) (Pred, error) {
	var parts []Pred
	for more := true; more; more = p.accept(mark) {
		one, err := part()
		if err != nil {
			return nil, err
		}
		parts = append(parts, one)
	}
	return join(parts...), nil
}

// unary = "!" unary | "(" or ")" | predicate .
func (p *parser) unary() (Pred, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(p.peek(), "conditions nest at most %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	switch {
	case p.accept("!"):
		inner, err := p.unary()
		if err != nil {
			return nil, err
		}
		return Not(inner), nil
	case p.accept("("):
		inner, err := p.or()
		if err != nil {
			return nil, err
		}
		if !p.accept(")") {
			return nil, p.expected(`"&&", "||" or ")"`)
		}
		return inner, nil
	}
	return build(p, "a predicate", predicates)
}

func (p *parser) effect() (Effect, error) { return build(p, "an effect", effects) }

// build reads a call and makes a predicate or an effect of it.
func build[T interface{ check() error }](p *parser, what string, known map[string]func(*args) T) (T, error) {
	var none T
	t := p.peek()
	if t.kind != tokenWord {
		return none, p.expected(what)
	}
	maker, ok := known[t.text]
	if !ok {
		return none, p.fail(t, "unknown %s %q; known: %s", what[strings.IndexByte(what, ' ')+1:], t.text, names(known))
	}
	call, err := p.call()
	if err != nil {
		return none, err
	}
	a := &args{p: p, call: call}
	made := maker(a)
	if a.err != nil {
		return none, a.err
	}
	if err := made.check(); err != nil {
		return none, p.fail(t, "%v", err)
	}
	return made, nil
}

func names[T any](known map[string]T) string {
	return strings.Join(slices.Sorted(maps.Keys(known)), ", ")
}

// call is a name and its arguments: name [ "(" [ arg { "," arg } ] ")" ] .
type call struct {
	name token
	args []arg
}

// arg is a word or a string, or a call with parentheses.
type arg struct {
	value token
	call  *call // nil for a value
}

func (p *parser) call() (call, error) {
	c := call{name: p.take()}
	if !p.accept("(") || p.accept(")") {
		return c, nil
	}
	for more := true; more; more = p.accept(",") {
		a, err := p.arg()
		if err != nil {
			return call{}, err
		}
		c.args = append(c.args, a)
	}
	if !p.accept(")") {
		return call{}, p.expected(`"," or ")"`)
	}
	return c, nil
}

func (p *parser) arg() (arg, error) {
	t := p.peek()
	if t.kind != tokenWord && t.kind != tokenString {
		return arg{}, p.expected("a value")
	}
	if t.kind == tokenString || !p.tokens[p.next+1].is("(") {
		return arg{value: p.take()}, nil
	}
	if p.depth++; p.depth > maxDepth {
		return arg{}, p.fail(t, "arguments nest at most %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	inner, err := p.call()
	return arg{value: t, call: &inner}, err
}
