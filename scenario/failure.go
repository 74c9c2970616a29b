package scenario

import (
	"fmt"
	"runtime/debug"
	"strings"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// Failure is a scenario that went wrong, as [Play] and [Stage.Play] report it. A
// text that is no scenario is a [*SyntaxError] instead.
type Failure struct {
	// Position is the place of the step: "FILE:LINE", or "at the end" for what went wrong
	// after the last one.
	Position string
	// Step is the step as it prints, "" at the end.
	Step string
	// Cause says what was expected and what was seen.
	Cause error

	step       Step   // nil at the end
	hint       string // what may be behind it; "" for nothing
	transcript string // until then
}

// Error tells all, over several lines: the place and the step, what was expected
// and seen, and the transcript up to there.
func (f *Failure) Error() string {
	text := f.Position + ": "
	if f.Step != "" {
		text += f.Step + "\n    "
	}
	text += f.Cause.Error()
	if f.hint != "" {
		text += "\n    " + f.hint
	}
	return text + "\ntranscript so far:\n" + indent(f.transcript)
}

// Brief is Error without the transcript, and on one line: for those who have the
// transcript, or do not want it.
func (f *Failure) Brief() string {
	text := f.Position + ": "
	if f.Step != "" {
		text += f.Step + ": "
	}
	return text + strings.Join(strings.FieldsFunc(f.Cause.Error(), isLineEnd), "; ")
}

func isLineEnd(r rune) bool { return r == '\n' || r == '\r' }

// Unwrap gives the Cause.
func (f *Failure) Unwrap() error { return f.Cause }

// failure is what is told of a step that went wrong.
func (e *Env) failure(p scriptStep, err error) *Failure {
	f := &Failure{Position: p.position, Cause: err, step: p.step, transcript: e.log.String()}
	if p.step != nil {
		f.Step = p.step.String()
	}
	if e.virtualTime && len(e.clients) > 0 && len(utilruntime.ErrorHandlers) > 1 {
		f.hint = "Are the error handlers of client-go throttled? They sleep for years in a bubble; " +
			"see the package documentation of scenario, TestMain."
	}
	return f
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ")
}

// panicError is the error that a panic of a step becomes. It has the stack, since
// the bug is in the step.
func panicError(what any) error {
	return fmt.Errorf("the step panicked: %v\n%s", what, strings.TrimSpace(string(debug.Stack())))
}
