package scenario

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// Print returns the text of a scenario, which [Parse] parses into equal steps. It returns an error
// if there is no such text: for a step that is not of this package, two files with the same name,
// or an invalid manifest.
func Print(steps ...Step) (string, error) {
	var a archive
	for _, s := range steps {
		a.comment += s.String() + "\n"
		for _, f := range filesOf(s) {
			if !slices.Contains(a.files, f) {
				a.files = append(a.files, f)
			}
		}
	}
	text := a.String()
	back, err := Parse(text)
	if err != nil {
		return "", fmt.Errorf("scenario: the steps cannot be printed: %w", err)
	}
	if !reflect.DeepEqual(back, steps) {
		return "", errors.New("scenario: the steps cannot be printed: the parsed text has other steps")
	}
	return text, nil
}

// fileUser is implemented by steps that refer to files.
type fileUser interface{ files() []file }

// filesOf returns the files of a step.
func filesOf(s Step) []file {
	if u, ok := innermost(s).(fileUser); ok {
		return u.files()
	}
	return nil
}

// wrapper is implemented by steps that run another step.
type wrapper interface{ inner() Step }

// innermost returns the step that a step runs in the end.
func innermost(s Step) Step {
	for {
		w, ok := s.(wrapper)
		if !ok {
			return s
		}
		s = w.inner()
	}
}
