package scenario

import (
	"fmt"
	"runtime/debug"
	"strings"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// Failure is the error of [Play] and [LiveRun.Play] for a scenario that fails. For a text that
// cannot be parsed they return a [*SyntaxError].
type Failure struct {
	// Position is the position of the step, "FILE:LINE" or "step N", or "at the end" for a failure
	// after the last step.
	Position string
	// Step is the text of the step, or "" at the end.
	Step string
	// Cause has the expected and the actual value.
	Cause error

	step       Step   // nil at the end
	hint       string // a possible reason, or ""
	transcript string // up to the failure
}

// Error returns several lines: the position, the step, the cause, and the transcript up to the
// failure.
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

// Brief returns the error on one line, without the transcript.
func (f *Failure) Brief() string {
	text := f.Position + ": "
	if f.Step != "" {
		text += f.Step + ": "
	}
	return text + strings.Join(strings.FieldsFunc(f.Cause.Error(), isLineEnd), "; ")
}

func isLineEnd(r rune) bool { return r == '\n' || r == '\r' }

// Unwrap returns the Cause.
func (f *Failure) Unwrap() error { return f.Cause }

// failure returns the Failure of a step.
func (e *Env) failure(p scriptStep, err error) *Failure {
	f := &Failure{Position: p.position, Cause: err, step: p.step, transcript: e.log.String()}
	if p.step != nil {
		f.Step = p.step.String()
	}
	if e.virtualTime && len(e.clients) > 0 && len(utilruntime.ErrorHandlers) > 1 {
		f.hint = "If the error handlers of client-go are throttled, they block for years in a bubble; " +
			"see TestMain in the package documentation of scenario."
	}
	return f
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ")
}

// panicError returns the error for a panic of a step, with the stack.
func panicError(recovered any) error {
	return fmt.Errorf("the step panicked: %v\n%s", recovered, strings.TrimSpace(string(debug.Stack())))
}
