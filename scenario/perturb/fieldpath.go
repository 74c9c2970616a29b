package perturb

import (
	"fmt"
	"slices"
	"strings"
)

// fieldPath is the path of a field. Its elements are names (string) and indexes (int).
type fieldPath []any

// with returns the path of an element of the field.
func (p fieldPath) with(part any) fieldPath { return append(slices.Clip(p), part) }

// String returns the path in messages: "spec.containers[0].image". Names that contain dots are not
// quoted.
func (p fieldPath) String() string {
	return p.text(func(string) bool { return false })
}

// inSteps returns the path as in [scenario.Field].
func (p fieldPath) inSteps() string {
	return p.text(func(name string) bool { return strings.ContainsAny(name, `./"[] =`) })
}

// text returns the path, with those names quoted that must be.
func (p fieldPath) text(mustQuote func(name string) bool) string {
	var b strings.Builder
	for i, part := range p {
		name, isName := part.(string)
		switch {
		case !isName:
			fmt.Fprintf(&b, "[%d]", part)
		case mustQuote(name):
			fmt.Fprintf(&b, "[%q]", name)
		case i > 0:
			b.WriteString("." + name)
		default:
			b.WriteString(name)
		}
	}
	return b.String()
}
