package scenario

import (
	"context"
	"errors"
	"strings"
)

// ExpectError runs a step that must fail with an error that contains text. The error of a request
// is "CODE REASON: MESSAGE", such as "409 Conflict: Operation cannot be fulfilled ...".
func ExpectError(text string, step Step) Step { return expectError{text, step} }

type expectError struct {
	text string
	step Step
}

func (kinds) ExpectError() stepKind {
	return stepKind{"expect error TEXT STEP", parseExpectError}
}

func parseExpectError(a *args) (Step, error) {
	text, err := a.word("a text")
	if err != nil {
		return nil, err
	}
	step, err := a.parser.parseStep(a.rest)
	return expectError{text, step}, err
}

func (s expectError) String() string { return "expect error " + quote(s.text) + " " + s.step.String() }

func (s expectError) inner() Step { return s.step }

func (s expectError) Run(ctx context.Context, e *Env) error {
	err := s.step.Run(ctx, e)
	want := "an error with " + quote(s.text)
	switch {
	case err == nil:
		return mismatch{want, "none"}
	case ctx.Err() != nil:
		return errors.Join(ctx.Err(), err)
	case !strings.Contains(err.Error(), s.text):
		return mismatch{want, err.Error()}
	}
	return nil
}
