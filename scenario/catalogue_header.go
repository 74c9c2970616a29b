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

// caseFields are the fields of a case, in their order, each on lines of its own
// that begin with the field's name. What is indented below continues it.
var caseFields = []string{"Role", "Must", "Source", "Survives", "Falls"}

// caseTitle is the first line of a case.
var caseTitle = regexp.MustCompile(`^([1-9][0-9]*) ([a-z0-9]+(?:-[a-z0-9]+)*): (\S.*)$`)

// caseWord is a name of a role or a client.
var caseWord = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// parseCase reads the file of a case. Its remarks up to the first line that is
// none are the title, the story and the fields, with an empty remark in between.
// An error is a *SyntaxError.
func parseCase(name, text string) (Case, error) {
	c := Case{Text: text, Falls: map[string]string{}}
	h := header{c: &c}
	line := 0
	for l := range strings.Lines(text) {
		remark, ok := strings.CutPrefix(strings.TrimRight(l, " \r\n"), "#")
		if !ok {
			break
		}
		line++
		if err := h.add(remark); err != nil {
			return Case{}, &SyntaxError{name, line, err.Error()}
		}
	}
	if err := h.end(); err != nil {
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

// header is a case of which some lines have been read.
type header struct {
	c     *Case
	lines int
	story []string
	// field is the name of the field that is being read, value what it is so far.
	field, value string
}

// add takes the next remark, without its "#".
func (h *header) add(remark string) error {
	h.lines++
	text := strings.TrimSpace(remark)
	if h.lines == 1 {
		return h.title(text)
	}
	if h.field != "" && text != "" && strings.HasPrefix(remark, "  ") {
		h.value += " " + text
		return nil
	}
	name, value, ok := strings.Cut(text, ": ")
	if known := slices.Contains(caseFields, strings.TrimSuffix(name, ":")); known && (ok || strings.HasSuffix(name, ":")) {
		if err := h.close(); err != nil {
			return err
		}
		return h.open(name, strings.TrimSpace(value))
	}
	if h.field != "" {
		return fmt.Errorf("expected one of the fields %s, or an indented line, found %q", strings.Join(caseFields, ", "), text)
	}
	h.story = append(h.story, text)
	return nil
}

func (h *header) title(text string) error {
	parts := caseTitle.FindStringSubmatch(text)
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

// open begins a field, which must not come before those that stand before it.
func (h *header) open(name, value string) error {
	name = strings.TrimSuffix(name, ":")
	if slices.Index(caseFields, name) < slices.Index(caseFields, h.field) {
		return fmt.Errorf("expected the fields %s in this order, found %s behind %s", strings.Join(caseFields, ", "), name, h.field)
	}
	if name == h.field && name != "Source" && name != "Falls" {
		return fmt.Errorf("expected the field %s once, found it twice", name)
	}
	h.field, h.value = name, value
	return nil
}

// close puts the field that was read into the case.
func (h *header) close() error {
	if h.field != "" && h.value == "" {
		return fmt.Errorf("expected something behind %q", h.field+":")
	}
	switch h.field {
	case "Role":
		if !caseWord.MatchString(h.value) {
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
	case "Survives":
		for name := range strings.SplitSeq(h.value, ",") {
			if err := h.client(strings.TrimSpace(name)); err != nil {
				return err
			}
			h.c.Survives = append(h.c.Survives, strings.TrimSpace(name))
		}
	case "Falls":
		name, why, ok := strings.Cut(h.value, ": ")
		if !ok {
			return fmt.Errorf(`expected "CLIENT: REASON", found %q`, h.value)
		}
		if err := h.client(name); err != nil {
			return err
		}
		h.c.Falls[name] = why
	}
	return nil
}

// client checks the name of a client that is listed.
func (h *header) client(name string) error {
	_, falls := h.c.Falls[name]
	switch {
	case !caseWord.MatchString(name):
		return fmt.Errorf("expected the name of a client, found %q", name)
	case falls || slices.Contains(h.c.Survives, name):
		return fmt.Errorf("expected each client once, found %s twice", name)
	}
	return nil
}

// end looks at what is missing.
func (h *header) end() error {
	if h.lines == 0 {
		return fmt.Errorf(`expected "# NUMBER NAME: TITLE", found no remark`)
	}
	if err := h.close(); err != nil {
		return err
	}
	h.c.Story = strings.TrimSpace(strings.Join(h.story, "\n"))
	for _, part := range []struct {
		name    string
		missing bool
	}{
		{"story", h.c.Story == ""},
		{"field Role", h.c.Role == ""},
		{"field Must", h.c.Must == ""},
		{"field Source", h.c.Sources == nil},
		{"client that is known to survive or fall", len(h.c.Survives)+len(h.c.Falls) == 0},
	} {
		if part.missing {
			return fmt.Errorf("expected a %s, found none", part.name)
		}
	}
	return nil
}

func (c Case) clone() Case {
	c.Sources, c.Survives, c.Falls = slices.Clone(c.Sources), slices.Clone(c.Survives), maps.Clone(c.Falls)
	return c
}
