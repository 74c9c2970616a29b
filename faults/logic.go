package faults

import (
	"errors"
	"strings"
	"time"
)

// And matches if all of ps match. They are evaluated from left to right, up to the first that does
// not match, so a predicate that counts is evaluated only if the ones before it match. Therefore
// predicates that count must come last; other rules are invalid. An And in an And is flattened, nil
// is skipped, and And() is [Always].
func And(ps ...Pred) Pred {
	var flat []Pred
	for _, p := range ps {
		switch p := p.(type) {
		case nil:
		case *andPred:
			flat = append(flat, p.parts...)
		default:
			flat = append(flat, p)
		}
	}
	switch len(flat) {
	case 0:
		return Always()
	case 1:
		return flat[0]
	}
	return &andPred{predGroup{flat}}
}

// Or matches if one of ps matches. They are evaluated from left to right, up to the first that
// matches. An Or in an Or is flattened, nil is skipped, and Or() matches nothing.
func Or(ps ...Pred) Pred {
	var flat []Pred
	for _, p := range ps {
		switch p := p.(type) {
		case nil:
		case *orPred:
			flat = append(flat, p.parts...)
		default:
			flat = append(flat, p)
		}
	}
	switch len(flat) {
	case 0:
		return Not(Always())
	case 1:
		return flat[0]
	}
	return &orPred{predGroup{flat}}
}

// Not matches if p does not. Not(nil) matches nothing.
func Not(p Pred) Pred {
	if p == nil {
		p = Always()
	}
	return &notPred{p}
}

// predGroup has the common parts of And and Or.
type predGroup struct{ parts []Pred }

func (g predGroup) facts() (f facts) {
	for _, p := range g.parts {
		f |= p.facts()
	}
	return f
}

func (g predGroup) check() error {
	for _, p := range g.parts {
		if err := p.check(); err != nil {
			return err
		}
	}
	return nil
}

func (g predGroup) newInstances(now time.Time) predGroup {
	parts := make([]Pred, len(g.parts))
	for i, p := range g.parts {
		parts[i] = p.newInstance(now)
	}
	return predGroup{parts}
}

func (g predGroup) join(operator string, inside func(Pred) string) string {
	texts := make([]string, len(g.parts))
	for i, p := range g.parts {
		texts[i] = inside(p)
	}
	return strings.Join(texts, operator)
}

type andPred struct{ predGroup }

func (p *andPred) Eval(op Op) bool {
	for _, part := range p.parts {
		if !part.Eval(op) {
			return false
		}
	}
	return true
}

// check also returns an error if a predicate that counts does not come last.
func (p *andPred) check() error {
	counting := ""
	for _, part := range p.parts {
		switch counts := part.facts()&factState != 0; {
		case counts && counting == "":
			counting = part.String()
		case !counts && counting != "":
			return errors.New(counting + " must come after " + part.String() +
				": predicates that count must be last in an &&, or they would count other requests")
		}
	}
	return p.predGroup.check()
}

func (p *andPred) newInstance(now time.Time) Pred { return &andPred{p.predGroup.newInstances(now)} }

func (p *andPred) String() string {
	return p.join(" && ", func(part Pred) string {
		if _, or := part.(*orPred); or {
			return "(" + part.String() + ")"
		}
		return part.String()
	})
}

type orPred struct{ predGroup }

func (p *orPred) Eval(op Op) bool {
	for _, part := range p.parts {
		if part.Eval(op) {
			return true
		}
	}
	return false
}

func (p *orPred) newInstance(now time.Time) Pred { return &orPred{p.predGroup.newInstances(now)} }
func (p *orPred) String() string                 { return p.join(" || ", Pred.String) }

type notPred struct{ pred Pred }

func (p *notPred) Eval(op Op) bool                { return !p.pred.Eval(op) }
func (p *notPred) facts() facts                   { return p.pred.facts() }
func (p *notPred) check() error                   { return p.pred.check() }
func (p *notPred) newInstance(now time.Time) Pred { return &notPred{p.pred.newInstance(now)} }

func (p *notPred) String() string {
	switch p.pred.(type) {
	case *andPred, *orPred:
		return "!(" + p.pred.String() + ")"
	}
	return "!" + p.pred.String()
}
