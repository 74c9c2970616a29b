package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// SyntaxError is the error for a text that is not a scenario.
type SyntaxError struct {
	// File is the name of the file, or "".
	File string
	// Line is the line number in the file, starting at 1.
	Line int
	// Message has the expected and the actual text.
	Message string
}

// Error returns "FILE:LINE: MESSAGE".
func (e *SyntaxError) Error() string { return position(e.File, e.Line) + ": " + e.Message }

func position(file string, line int) string {
	if file == "" {
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// Parse parses the text of a scenario, in the format of the package documentation. An error is a
// [*SyntaxError].
func Parse(text string) ([]Step, error) {
	s, err := parseScript("", text)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, p := range s {
		steps = append(steps, p.step)
	}
	return steps, nil
}

// script is a scenario whose steps have positions.
type script []scriptStep

type scriptStep struct {
	step Step
	// position is "FILE:LINE", or "step N".
	position string
}

// newScript returns a script of steps that are not from a file.
func newScript(steps []Step) script {
	var s script
	for i, step := range steps {
		s = append(s, scriptStep{step, fmt.Sprintf("step %d", i+1)})
	}
	return s
}

// parseScript parses the text of a file.
func parseScript(name, text string) (script, error) {
	a := parseArchive(text)
	p := &parser{files: a.files, used: map[string]bool{}}
	for i, f := range a.files {
		if slices.ContainsFunc(a.files[:i], func(other file) bool { return other.name == f.name }) {
			return nil, &SyntaxError{name, f.line, fmt.Sprintf("expected each file once, found %q twice", f.name)}
		}
	}
	var s script
	line := 0
	for l := range strings.Lines(a.comment) {
		line++
		if isBlankOrComment(l) {
			continue
		}
		step, err := p.parseStep(l)
		if err != nil {
			return nil, &SyntaxError{name, line, err.Error()}
		}
		s = append(s, scriptStep{step, position(name, line)})
	}
	for _, f := range a.files {
		if !p.used[f.name] {
			return nil, &SyntaxError{name, f.line, fmt.Sprintf("expected a step that uses the file %q, found none", f.name)}
		}
		if _, err := decodeManifest(f.data); err != nil {
			return nil, &SyntaxError{name, f.line, fmt.Sprintf("manifest %s: %v", f.name, err)}
		}
	}
	return s, nil
}

func isBlankOrComment(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || line[0] == '#'
}

// parser is the state of parsing a scenario.
type parser struct {
	files []file
	used  map[string]bool
}

// parseStep parses one line.
func (p *parser) parseStep(line string) (Step, error) {
	kind, rest, err := findStepKind(line)
	if err != nil {
		return nil, err
	}
	s, err := kind.parse(&args{parser: p, rest: rest})
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", err, kind.usage)
	}
	return s, nil
}

// findStepKind returns the kind of a line by its first two words, or by the first.
func findStepKind(line string) (kind stepKind, rest string, err error) {
	first, rest, err := cutWord(line)
	if err != nil {
		return stepKind{}, "", err
	}
	second, afterSecond, secondErr := cutWord(rest)
	var known []string
	found := false
	for _, candidate := range stepKinds() {
		switch candidate.name() {
		case string(first) + " " + string(second):
			if secondErr == nil {
				return candidate, afterSecond, nil
			}
		case string(first):
			kind, found = candidate, true
		}
		known = append(known, candidate.name())
	}
	if found {
		return kind, rest, nil
	}
	return stepKind{}, "", fmt.Errorf("expected a step (%s), found %q", strings.Join(known, ", "), string(first))
}

// useFile returns a file of the archive and marks it as used.
func (p *parser) useFile(name string) (file, error) {
	i := slices.IndexFunc(p.files, func(f file) bool { return f.name == name })
	if i < 0 {
		var names []string
		for _, f := range p.files {
			names = append(names, f.name)
		}
		return file{}, fmt.Errorf("expected a file of this scenario (%s), found %q", listOrNone(names), name)
	}
	p.used[name] = true
	return p.files[i], nil
}

// listOrNone joins names for a message.
func listOrNone(names []string) string {
	if len(names) == 0 {
		return "there are none"
	}
	return strings.Join(names, ", ")
}
