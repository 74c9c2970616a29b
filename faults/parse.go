package faults

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// Parse parses one rule in the form that [Rule.String] prints, or a ready-made fault such as
// "expire410(resource(pods))" that is one rule; see [ReadyMade]. The package documentation has the
// grammar. Errors are of type [*SyntaxError]. Parse does not check whether the effects support the
// phases of the condition; see [Rule.Validate] and [Set.Add].
func Parse(text string) (Rule, error) {
	tokens, err := lex(text)
	if err != nil {
		return Rule{}, err
	}
	p := &parser{src: text, tokens: tokens}
	rules, err := p.parseLine()
	if err != nil {
		return Rule{}, err
	}
	if len(rules) > 1 {
		return Rule{}, p.errorAt(p.start, "expected one rule, found %s, which is %d rules", p.start, len(rules))
	}
	return rules[0], nil
}

// ParseAll parses a text with one rule or ready-made fault on each line. Some ready-made faults are
// several rules. Blank lines and comments, which start with a "#" outside quotes, are skipped.
func ParseAll(text string) ([]Rule, error) {
	var rules []Rule
	line := 0
	for src := range strings.SplitSeq(text, "\n") {
		line++
		tokens, err := lex(src)
		if err == nil && tokens[0].kind == tokenEnd {
			continue
		}
		var parsed []Rule
		if err == nil {
			parsed, err = (&parser{src: src, tokens: tokens}).parseLine()
		}
		if err != nil {
			if at := (*SyntaxError)(nil); errors.As(err, &at) {
				at.Line = line
			}
			return nil, err
		}
		rules = append(rules, parsed...)
	}
	return rules, nil
}

// maxDepth limits the nesting of conditions and arguments.
const maxDepth = 100

// parser is a recursive descent parser with one method for each line of the grammar.
type parser struct {
	src    string
	tokens []token
	next   int
	depth  int
	start  token // the first token after the name
}

func (p *parser) peek() token { return p.tokens[p.next] }

func (p *parser) advance() token {
	t := p.tokens[p.next]
	if t.kind != tokenEnd {
		p.next++
	}
	return t
}

func (p *parser) accept(mark string) bool {
	if p.peek().isPunctuation(mark) {
		p.next++
		return true
	}
	return false
}

func (p *parser) errorAt(t token, format string, args ...any) error {
	return newSyntaxError(p.src, t.pos, format, args...)
}

func (p *parser) expectedError(what string) error {
	t := p.peek()
	return p.errorAt(t, "expected %s, found %s", what, t)
}

func (p *parser) parseKeyword(word, what string) error {
	if t := p.peek(); t.kind != tokenWord || t.text != word {
		return p.expectedError(what)
	}
	p.next++
	return nil
}

// parseLine parses
//
//	line = [ value ":" ] ( rule | readyMade ) .
//
// The rules of a ready-made fault have the name of the line, if it has one.
func (p *parser) parseLine() (rules []Rule, err error) {
	name, named := p.parseName()
	p.start = p.peek()
	after := "the end"
	if _, ok := readyMade[p.start.text]; ok && p.start.kind == tokenWord {
		rules, err = p.parseReadyMade()
	} else {
		var r Rule
		r, err = p.parseRule(named)
		rules, after = []Rule{r}, `"," and another effect, or the end`
	}
	if err == nil && p.peek().kind != tokenEnd {
		err = p.expectedError(after)
	}
	for i := range rules {
		if named {
			rules[i].Name = name
		}
	}
	return rules, err
}

// parseName parses the name of a rule, if there is one.
func (p *parser) parseName() (name string, ok bool) {
	t := p.peek()
	if t.kind != tokenWord && t.kind != tokenString || !p.tokens[p.next+1].isPunctuation(":") {
		return "", false
	}
	p.next += 2
	return t.text, true
}

// parseRule parses
//
//	rule = "when" or "do" effect { "," effect } .
func (p *parser) parseRule(named bool) (r Rule, err error) {
	if err := p.checkReadyMade(); err != nil {
		return Rule{}, err
	}
	start := `"when", a ready-made fault, or a name and ":"`
	if named {
		start = `"when" or a ready-made fault`
	}
	if err := p.parseKeyword("when", start); err != nil {
		return Rule{}, err
	}
	if r.When, err = p.parseOr(); err != nil {
		return Rule{}, err
	}
	if err := p.parseKeyword("do", `"&&", "||" or "do"`); err != nil {
		return Rule{}, err
	}
	for more := true; more; more = p.accept(",") {
		e, err := p.parseEffect()
		if err != nil {
			return Rule{}, err
		}
		r.Do = append(r.Do, e)
	}
	return r, nil
}

// checkReadyMade returns an error for what has the form of a ready-made fault with an unknown name.
func (p *parser) checkReadyMade() error {
	t, after := p.peek(), p.tokens[min(p.next+1, len(p.tokens)-1)]
	_, isPredicate := predicates[t.text]
	if t.kind != tokenWord || t.text == "when" || isPredicate || !after.isPunctuation("(") && after.kind != tokenEnd {
		return nil
	}
	return p.errorAt(t, "unknown ready-made fault %q; known: %s", t.text, sortedNames(readyMade))
}

// parseOr parses
//
//	or = and { "||" and } .
func (p *parser) parseOr() (Pred, error) { return p.parseOperands("||", p.parseAnd, Or) }

// parseAnd parses
//
//	and = unary { "&&" unary } .
func (p *parser) parseAnd() (Pred, error) { return p.parseOperands("&&", p.parseUnary, And) }

func (p *parser) parseOperands(mark string, part func() (Pred, error), join func(...Pred) Pred) (Pred, error) {
	var parts []Pred
	for more := true; more; more = p.accept(mark) {
		operand, err := part()
		if err != nil {
			return nil, err
		}
		parts = append(parts, operand)
	}
	return join(parts...), nil
}

// parseUnary parses
//
//	unary = "!" unary | "(" or ")" | predicate .
func (p *parser) parseUnary() (Pred, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.errorAt(p.peek(), "conditions nest at most %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	switch {
	case p.accept("!"):
		inner, err := p.parseUnary()
		if err != nil {
			return nil, err
		}
		return Not(inner), nil
	case p.accept("("):
		inner, err := p.parseOr()
		if err != nil {
			return nil, err
		}
		if !p.accept(")") {
			return nil, p.expectedError(`"&&", "||" or ")"`)
		}
		return inner, nil
	}
	return parseAs(p, "a predicate", predicates)
}

func (p *parser) parseEffect() (Effect, error) { return parseAs(p, "an effect", effects) }

// parseAs parses a call and returns it as a predicate or an effect. known has the functions by
// name.
func parseAs[T interface{ check() error }](p *parser, what string, constructors map[string]func(*args) T) (T, error) {
	var none T
	t := p.peek()
	if t.kind != tokenWord {
		return none, p.expectedError(what)
	}
	construct, ok := constructors[t.text]
	if !ok {
		return none, p.errorAt(t, "unknown %s %q; known: %s", what[strings.IndexByte(what, ' ')+1:], t.text, sortedNames(constructors))
	}
	call, err := p.parseCall()
	if err != nil {
		return none, err
	}
	a := &args{p: p, call: call}
	made := construct(a)
	if a.err != nil {
		return none, a.err
	}
	if err := made.check(); err != nil {
		return none, p.errorAt(t, "%v", err)
	}
	return made, nil
}

func sortedNames[T any](m map[string]T) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

// call is a parsed call:
//
//	call = word [ "(" [ arg { "," arg } ] ")" ] .
type call struct {
	name token
	args []arg
}

// arg is a value, which is a word or a string, or a call with parentheses.
type arg struct {
	value token
	call  *call // nil for a value
}

func (p *parser) parseCall() (call, error) {
	c := call{name: p.advance()}
	if !p.accept("(") || p.accept(")") {
		return c, nil
	}
	for more := true; more; more = p.accept(",") {
		a, err := p.parseArg()
		if err != nil {
			return call{}, err
		}
		c.args = append(c.args, a)
	}
	if !p.accept(")") {
		return call{}, p.expectedError(`"," or ")"`)
	}
	return c, nil
}

func (p *parser) parseArg() (arg, error) {
	t := p.peek()
	if t.kind != tokenWord && t.kind != tokenString {
		return arg{}, p.expectedError("a value")
	}
	if t.kind == tokenString || !p.tokens[p.next+1].isPunctuation("(") {
		return arg{value: p.advance()}, nil
	}
	if p.depth++; p.depth > maxDepth {
		return arg{}, p.errorAt(t, "arguments nest at most %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	inner, err := p.parseCall()
	return arg{value: t, call: &inner}, err
}
