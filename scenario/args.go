package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// word is a part of a line between blanks. Text in double quotes is quoted as in Go and may contain
// blanks. The quotes may begin in the middle of a word (path["a b"]).
type word string

// cutWord cuts the first word off a line. A "#" at the start of a word begins a comment. At the end
// of the line the word is "".
func cutWord(line string) (w word, rest string, err error) {
	line = strings.TrimLeftFunc(line, unicode.IsSpace)
	if strings.HasPrefix(line, "#") {
		return "", "", nil
	}
	for i := 0; i < len(line); {
		if line[i] == '"' {
			quoted, err := strconv.QuotedPrefix(line[i:])
			if err != nil {
				return "", "", fmt.Errorf("expected a closing double quote after %s", line[i:])
			}
			i += len(quoted)
			continue
		}
		if n := strings.IndexFunc(line[i:], isBlankOrQuote); n > 0 {
			i += n
		} else if n == 0 {
			return word(line[:i]), line[i:], nil
		} else {
			i = len(line)
		}
	}
	return word(line), "", nil
}

func isBlankOrQuote(r rune) bool { return r == '"' || unicode.IsSpace(r) }

// text returns the word without its quotes, if it begins with one.
func (w word) text() (string, error) {
	if !strings.HasPrefix(string(w), `"`) {
		return string(w), nil
	}
	s, err := strconv.Unquote(string(w))
	if err != nil {
		return "", fmt.Errorf("expected a blank after the closing double quote in %s", w)
	}
	return s, nil
}

// quote returns s as one word that is not a flag or a comment, in double quotes if necessary.
func quote(s string) string {
	strange := func(r rune) bool { return isBlankOrQuote(r) || !strconv.IsPrint(r) || r == unicode.ReplacementChar }
	if s == "" || s[0] == '#' || s[0] == '-' || strings.ContainsFunc(s, strange) {
		return strconv.Quote(s)
	}
	return s
}

func quoteAll(all []string) []string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = quote(s)
	}
	return quoted
}

// joinWords joins the words that are not empty.
func joinWords(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

// args is the rest of a line after the name of the step.
type args struct {
	parser *parser
	rest   string
}

// word returns the next word. what describes it in the error if there is none.
func (a *args) word(what string) (string, error) {
	w, rest, err := cutWord(a.rest)
	if err != nil {
		return "", err
	}
	if w == "" {
		return "", fmt.Errorf("expected %s, found the end of the line", what)
	}
	a.rest = rest
	return w.text()
}

// duration returns the next word as a duration of at least least.
func (a *args) duration(least time.Duration) (time.Duration, error) {
	s, err := a.word("a duration")
	if err != nil {
		return 0, err
	}
	return parseDuration(s, least)
}

// parseDuration parses a duration of at least least.
func parseDuration(s string, least time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf(`expected a duration such as "90s" or "5m", found %q`, s)
	}
	if d < least {
		return 0, fmt.Errorf("expected a duration of at least %v, found %v", least, d)
	}
	return d, nil
}

// flags are the flags of a line and their values. A flag without a value is "set".
type flags map[string]string

// wordsAndFlags returns the remaining words, still quoted, and the flags among them. allowed has
// the names of the flags, followed by "=" if a flag has a value.
func (a *args) wordsAndFlags(allowed ...string) (words []word, given flags, err error) {
	given = flags{}
	for {
		w, rest, err := cutWord(a.rest)
		if err != nil || w == "" {
			return words, given, err
		}
		a.rest = rest
		if !strings.HasPrefix(string(w), "-") {
			words = append(words, w)
			continue
		}
		if err := a.flag(string(w), given, allowed); err != nil {
			return nil, nil, err
		}
	}
}

// flag parses the value of a flag, if it has one, and adds it to given.
func (a *args) flag(name string, given flags, allowed []string) (err error) {
	hasValue := slices.Contains(allowed, name+"=")
	if !hasValue && !slices.Contains(allowed, name) {
		if len(allowed) == 0 {
			return fmt.Errorf("expected no flag, found %s", name)
		}
		return fmt.Errorf("expected one of the flags %s, found %s", strings.ReplaceAll(strings.Join(allowed, ", "), "=", ""), name)
	}
	if given[name] != "" {
		return fmt.Errorf("expected %s once, found it twice", name)
	}
	given[name] = "set"
	if hasValue {
		if given[name], err = a.word("a value after " + name); err == nil && given[name] == "" {
			err = fmt.Errorf(`expected a value after %s, found ""`, name)
		}
	}
	return err
}

// words returns the remaining words, from least to most of them, or any number if most < 0. Flags
// are an error.
func (a *args) words(least, most int) ([]string, error) {
	words, _, err := a.wordsAndFlags()
	if err != nil {
		return nil, err
	}
	return unquoteWords(words, least, most)
}

// parseName parses a line of one word that is not empty. what describes it in the error.
func parseName(a *args, what string) (string, error) {
	words, err := a.words(1, 1)
	if err != nil {
		return "", err
	}
	if words[0] == "" {
		return "", fmt.Errorf(`expected the name of %s, found ""`, what)
	}
	return words[0], nil
}

// unquoteWords returns the texts of words, of which there must be from least to most.
func unquoteWords(words []word, least, most int) ([]string, error) {
	if len(words) < least {
		return nil, errors.New("expected more, found the end of the line")
	}
	if most >= 0 && len(words) > most {
		return nil, fmt.Errorf("expected the end of the line, found %q", string(words[most]))
	}
	var all []string
	for _, w := range words {
		s, err := w.text()
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// cloneSlice returns a copy of a slice, or nil if it is empty, so that steps with the same text are
// equal.
func cloneSlice[T any](all []T) []T { return append([]T(nil), all...) }
