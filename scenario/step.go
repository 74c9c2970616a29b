package scenario

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Step is one line of a scenario. The steps of this package are immutable values. They can be run
// any number of times, their text can be parsed by [Parse], and they are equal (reflect.DeepEqual)
// if they have the same text. A step type of another package works with [Run], but not in a file.
type Step interface {
	// Run runs the step against the server of e. The error has the expected and the actual value.
	// Run must return when ctx is done.
	Run(ctx context.Context, e *Env) error
	// String returns the text of the step, one line.
	String() string
}

// stepKind describes the text form of a kind of step.
type stepKind struct {
	// usage is the syntax of a line. It begins with the name of the kind.
	usage string
	// parse parses the rest of a line, after the name.
	parse func(*args) (Step, error)
}

// kinds declares the kinds of steps. Each of its methods returns one. stepKinds finds them by
// reflection, so that a kind is declared only in its own file.
type kinds struct{}

// stepKinds returns all kinds of steps, sorted by name.
var stepKinds = sync.OnceValue(func() []stepKind {
	declared := reflect.ValueOf(kinds{})
	var all []stepKind
	for i := range declared.NumMethod() {
		all = append(all, declared.Method(i).Interface().(func() stepKind)())
	}
	slices.SortFunc(all, func(a, b stepKind) int { return cmp.Compare(a.name(), b.name()) })
	return all
})

// name returns the words before the first parameter of the usage: one, or two.
func (k stepKind) name() string {
	var name []string
	for _, w := range strings.Fields(k.usage) {
		if strings.ContainsFunc(w, func(r rune) bool { return r < 'a' || r > 'z' }) {
			break
		}
		name = append(name, w)
	}
	return strings.Join(name, " ")
}

// parseBare returns a parser for a step without parameters.
func parseBare(s Step) func(*args) (Step, error) {
	return func(a *args) (Step, error) {
		if _, err := a.words(0, 0); err != nil {
			return nil, err
		}
		return s, nil
	}
}
