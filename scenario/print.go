package scenario

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// Print gives the text of a scenario, which [Parse] reads back as the same
// steps. An error says why there is no such text: a step that is not one of this
// package, two files with one name, a manifest that is none.
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
		return "", errors.New("scenario: the steps cannot be printed: read back they would be others")
	}
	return text, nil
}

// fileUser is a step that refers to files.
type fileUser interface{ files() []file }

// filesOf gives the files that a step refers to.
func filesOf(s Step) []file {
	if u, ok := s.(fileUser); ok {
		return u.files()
	}
	return nil
}
