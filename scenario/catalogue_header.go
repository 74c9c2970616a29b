package scenario

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// caseFields are the fields of a case in their order. Each begins a line and is continued by
// indented lines.
var caseFields = []string{"Role", "Must", "Source", "Passes", "Fails"}

// caseTitlePattern matches the first line of a case.
var caseTitlePattern = regexp.MustCompile(`^([1-9][0-9]*) ([a-z0-9]+(?:-[a-z0-9]+)*): (\S.*)$`)

// caseNamePattern matches the name of a role or a client.
var caseNamePattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// parseCase parses the file of a case. The comments before the first other line are the title, the
// description and the fields, separated by empty comments. An error is a *SyntaxError.
func parseCase(name, text string) (Case, error) {
	c := Case{Text: text, Fails: map[string]string{}}
	h := header{c: &c}
	line := 0
	for l := range strings.Lines(text) {
		comment, ok := strings.CutPrefix(strings.TrimRight(l, " \r\n"), "#")
		if !ok {
			break
		}
		line++
		if err := h.add(comment); err != nil {
			return Case{}, &SyntaxError{name, line, err.Error()}
		}
	}
	if err := h.finish(); err != nil {
		return Case{}, &SyntaxError{name, line + 1, err.Error()}
	}
	if _, err := parseScript(name, text); err != nil {
		return Case{}, err
	}
	if len(c.clientNames()) == 0 {
		return Case{}, &SyntaxError{name, line + 1, fmt.Sprintf("expected a step that runs %s or %[1]s-NAME, found none", c.Role)}
	}
	return c, nil
}

// header is the state of parsing the header of a case.
type header struct {
	c           *Case
	lines       int
	description []string
	// field is the name of the current field, and value its value so far.
	field, value string
}

// add parses the next comment, without its "#".
func (h *header) add(comment string) error {
	h.lines++
	text := strings.TrimSpace(comment)
	if h.lines == 1 {
		return h.title(text)
	}
	if h.field != "" && text != "" && strings.HasPrefix(comment, "  ") {
		h.value += " " + text
		return nil
	}
	name, value, ok := strings.Cut(text, ": ")
	if known := slices.Contains(caseFields, strings.TrimSuffix(name, ":")); known && (ok || strings.HasSuffix(name, ":")) {
		if err := h.endField(); err != nil {
			return err
		}
		return h.beginField(name, strings.TrimSpace(value))
	}
	if h.field != "" {
		return fmt.Errorf("expected one of the fields %s, or an indented line, found %q", strings.Join(caseFields, ", "), text)
	}
	h.description = append(h.description, text)
	return nil
}

func (h *header) title(text string) error {
	parts := caseTitlePattern.FindStringSubmatch(text)
	if parts == nil {
		return fmt.Errorf(`expected "NUMBER NAME: TITLE", found %q`, text)
	}
	number, err := strconv.Atoi(parts[1])
	if err != nil {
		return fmt.Errorf("expected a number, found %q", parts[1])
	}
	h.c.Number, h.c.Name, h.c.Title = number, parts[2], parts[3]
	return nil
}

// beginField begins a field. Fields must be in the order of caseFields.
func (h *header) beginField(name, value string) error {
	name = strings.TrimSuffix(name, ":")
	if slices.Index(caseFields, name) < slices.Index(caseFields, h.field) {
		return fmt.Errorf("expected the fields %s in this order, found %s after %s", strings.Join(caseFields, ", "), name, h.field)
	}
	if name == h.field && name != "Source" && name != "Fails" {
		return fmt.Errorf("expected the field %s once, found it twice", name)
	}
	h.field, h.value = name, value
	return nil
}

// endField sets the current field of the case.
func (h *header) endField() error {
	if h.field != "" && h.value == "" {
		return fmt.Errorf("expected a value after %q", h.field+":")
	}
	switch h.field {
	case "Role":
		if !caseNamePattern.MatchString(h.value) {
			return fmt.Errorf("expected the name of a role, found %q", h.value)
		}
		h.c.Role = h.value
	case "Must":
		h.c.Must = h.value
	case "Source":
		if u, err := url.Parse(h.value); err != nil || u.Scheme != "https" || u.Host == "" || strings.Contains(h.value, " ") {
			return fmt.Errorf("expected the https address of a source, found %q", h.value)
		}
		h.c.Sources = append(h.c.Sources, h.value)
	case "Passes":
		for name := range strings.SplitSeq(h.value, ",") {
			if err := h.checkClient(strings.TrimSpace(name)); err != nil {
				return err
			}
			h.c.Passes = append(h.c.Passes, strings.TrimSpace(name))
		}
	case "Fails":
		name, reason, ok := strings.Cut(h.value, ": ")
		if !ok {
			return fmt.Errorf(`expected "CLIENT: REASON", found %q`, h.value)
		}
		if err := h.checkClient(name); err != nil {
			return err
		}
		h.c.Fails[name] = reason
	}
	return nil
}

// checkClient checks the name of a client in Passes or Fails.
func (h *header) checkClient(name string) error {
	_, fails := h.c.Fails[name]
	switch {
	case !caseNamePattern.MatchString(name):
		return fmt.Errorf("expected the name of a client, found %q", name)
	case fails || slices.Contains(h.c.Passes, name):
		return fmt.Errorf("expected each client once, found %s twice", name)
	}
	return nil
}

// finish ends the last field and returns an error if a field is missing.
func (h *header) finish() error {
	if h.lines == 0 {
		return fmt.Errorf(`expected "# NUMBER NAME: TITLE", found no comment`)
	}
	if err := h.endField(); err != nil {
		return err
	}
	h.c.Description = strings.TrimSpace(strings.Join(h.description, "\n"))
	for _, part := range []struct {
		name    string
		missing bool
	}{
		{"description", h.c.Description == ""},
		{"field Role", h.c.Role == ""},
		{"field Must", h.c.Must == ""},
		{"field Source", h.c.Sources == nil},
		{"client that is known to pass or fail", len(h.c.Passes)+len(h.c.Fails) == 0},
	} {
		if part.missing {
			return fmt.Errorf("expected a %s, found none", part.name)
		}
	}
	return nil
}

func (c Case) clone() Case {
	c.Sources, c.Passes, c.Fails = slices.Clone(c.Sources), slices.Clone(c.Passes), maps.Clone(c.Fails)
	return c
}
