package faults

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// ReadyMadeFault describes a fault that text names by its Go function in lower camel case, such as
// expire410 for [Expire410]. [ReadyMade] returns all of them.
type ReadyMadeFault struct {
	// Name is the name in text.
	Name string
	// Parameters are the arguments that come before the conditions, such as DURATION.
	Parameters []string
	// Doc says what the fault does, in a sentence that begins with a verb.
	Doc string
	// Example is a line of text with the fault.
	Example string
	// Rules are the rules that Example stands for.
	Rules []Rule
}

// Usage returns the form of the fault in text, such as "retry504(DURATION, CONDITION, ...)".
func (f ReadyMadeFault) Usage() string { return readyMadeUsage(f.Name, f.Parameters) }

func readyMadeUsage(name string, parameters []string) string {
	return callText(name, append(slices.Clone(parameters), "CONDITION", "...")...)
}

// ReadyMade returns the ready-made faults in alphabetical order. [ParseAll] and [Set.AddText]
// accept them in place of a rule, and so does [Parse] if they are one rule. Their arguments are
// those of the Go function: the parameters, and then any number of conditions, all of which must
// hold.
func ReadyMade() []ReadyMadeFault {
	var list []ReadyMadeFault
	for _, name := range slices.Sorted(maps.Keys(readyMade)) {
		f := readyMade[name]
		rules, _ := ParseAll(f.example) // a test parses all examples
		list = append(list, ReadyMadeFault{
			Name: name, Parameters: slices.Clone(f.parameters), Doc: f.doc, Example: f.example, Rules: rules,
		})
	}
	return list
}

// readyMadeFault is a function of presets.go. The values that it gets are those of its parameters.
type readyMadeFault struct {
	parameters   []string
	doc, example string
	rules        func(a *args, values []token, when []Pred) []Rule
}

// readyMade are the ready-made faults by name: all functions of presets.go.
var readyMade = map[string]readyMadeFault{
	"badGateway": {nil,
		"responds to all requests with 502 and an HTML page, as a load balancer without a backend does.",
		"badGateway(path(/api), first(3))", conditionsOnly(BadGateway)},
	"dropBookmarks": {nil,
		"drops the bookmarks of watches, but for the one that ends the initial events.",
		"dropBookmarks(resource(pods))", conditionsOnly(DropBookmarks)},
	"expire410": {nil,
		"ends watches that resume at a resourceVersion with 410 Expired, as if it were too old.",
		"expire410(resource(pods), first(1))", conditionsOnly(Expire410)},
	"expireContinue": {nil,
		"responds to requests for further pages of a list with 410 Expired without a continue token.",
		"expireContinue(resource(pods), first(1))", conditionsOnly(ExpireContinue)},
	"realisticLatency": {[]string{"SEED"},
		"delays each request, and each event of a watch, by a random time of 1 to 5 ms, as in a cluster.",
		"realisticLatency(1)", func(a *args, values []token, when []Pred) []Rule {
			return RealisticLatency(a.parseSeed(values[0]), when...)
		}},
	"retry504": {[]string{"DURATION"},
		"responds to gets and lists with 504 and a Retry-After header, as a server that is behind the resourceVersion.",
		"retry504(1s, first(2))", func(a *args, values []token, when []Pred) []Rule {
			return []Rule{Retry504(a.parseRetryAfter(values[0]), when...)}
		}},
	"revokeFor": {[]string{"DURATION"},
		"denies requests with 403 and ends watches, until the duration has passed since it was added.",
		"revokeFor(5m, resource(secrets))", func(a *args, values []token, when []Pred) []Rule {
			return RevokeFor(a.parseDuration(values[0]), when...)
		}},
	"tooBusy": {[]string{"DURATION"},
		"responds to all requests with 429 and a Retry-After header, as with too many requests in flight.",
		"tooBusy(1s, verb(list), first(2))", func(a *args, values []token, when []Pred) []Rule {
			return []Rule{TooBusy(a.parseRetryAfter(values[0]), when...)}
		}},
}

// conditionsOnly returns the function of a fault that has no parameters.
func conditionsOnly(construct func(...Pred) Rule) func(*args, []token, []Pred) []Rule {
	return func(_ *args, _ []token, when []Pred) []Rule { return []Rule{construct(when...)} }
}

// parseRetryAfter parses the duration of a Retry-After header.
func (a *args) parseRetryAfter(t token) time.Duration {
	d := a.parseDuration(t)
	if d < 0 {
		a.setError(t, "expected a duration that is not negative, found %s", t)
	}
	return d
}

// parseReadyMade parses
//
//	readyMade = word [ "(" [ argument { "," argument } ] ")" ] .
//	argument  = value | or .
//
// Values for the parameters come before the conditions.
func (p *parser) parseReadyMade() ([]Rule, error) {
	name := p.advance()
	fault := readyMade[name.text]
	values, when, err := p.parseReadyMadeArgs(name, fault.parameters)
	if err != nil {
		return nil, err
	}
	a := &args{p: p, call: call{name: name}}
	rules := fault.rules(a, values, when)
	if a.err != nil {
		return nil, a.err
	}
	for _, r := range rules {
		if err := cmp.Or(r.condition().check(), r.checkEffects()); err != nil {
			return nil, p.errorAt(name, "%v", err)
		}
	}
	return rules, nil
}

// parseReadyMadeArgs parses the arguments of a ready-made fault with a name.
func (p *parser) parseReadyMadeArgs(name token, parameters []string) (values []token, when []Pred, err error) {
	more := p.accept("(") && !p.accept(")")
	closed := !more
	for more {
		if len(values) < len(parameters) {
			t := p.peek()
			if t.kind != tokenWord && t.kind != tokenString || p.tokens[p.next+1].isPunctuation("(") {
				return nil, nil, p.expectedError(parameters[len(values)])
			}
			values = append(values, p.advance())
		} else {
			condition, err := p.parseOr()
			if err != nil {
				return nil, nil, err
			}
			when = append(when, condition)
		}
		more = p.accept(",")
	}
	if !closed && !p.accept(")") {
		return nil, nil, p.expectedError(`"," or ")"`)
	}
	if len(values) < len(parameters) {
		return nil, nil, p.errorAt(name, "expected %s", readyMadeUsage(name.text, parameters))
	}
	return values, when, nil
}
