package httpdiff

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Normalizer replaces values that differ between servers by placeholders, so that the responses of
// one server can be the left side. It must be applied to the exchanges of a case in order, requests
// included.
type Normalizer struct {
	numbered     []*regexp.Regexp
	placeholders map[binding]string
	counts       map[string]int
	bases        []*regexp.Regexp // generated names; the first group is the random suffix
}

// NewNormalizer returns a Normalizer. The first group of each pattern is a number in a name that is
// replaced in all strings.
func NewNormalizer(numbered ...*regexp.Regexp) *Normalizer {
	return &Normalizer{numbered: numbered, placeholders: map[binding]string{}, counts: map[string]int{}}
}

// placeholder returns the placeholder of a value, a new one if the value has none yet.
func (n *Normalizer) placeholder(class, value string) string {
	known, ok := n.placeholders[binding{class, value}]
	if !ok {
		n.counts[class]++
		known = "$" + class + strconv.Itoa(n.counts[class])
		if class == "continue" {
			known = fmt.Sprintf("$continue(%d)", n.counts[class])
		}
		n.placeholders[binding{class, value}] = known
	}
	return known
}

// Value returns a copy of v, which was decoded by Decode, with placeholders.
func (n *Normalizer) Value(v any) any { return n.value("", v) }

// value is Value for the value of a key.
func (n *Normalizer) value(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		n.addBase(v)
		copied := make(map[string]any, len(v))
		_, release := v["gitVersion"]
		_, stored := v["uid"]
		for _, k := range sortedKeys(v) {
			if text, ok := v[k].(string); ok && release && releaseKeys[k] {
				copied[k] = orText("$"+k, text)
				continue
			}
			if text, ok := v[k].(string); ok && stored && k == "resourceVersion" && wholeNumber.MatchString(text) {
				copied[k] = n.placeholder("rv", text)
				continue
			}
			copied[n.Text(k)] = n.value(k, v[k])
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i, x := range v {
			copied[i] = n.value(key, x)
		}
		return copied
	case string:
		return n.valueFor(key, v)
	}
	return v
}

// releaseKeys are the fields of version.Info that differ between builds.
var releaseKeys = map[string]bool{
	"gitVersion": true, "gitCommit": true, "buildDate": true, "goVersion": true, "compiler": true, "platform": true,
}

// maxBaseLength is the length to which an API server truncates generateName.
const maxBaseLength = 58

// addBase records the generateName of an object, because messages contain the generated name too.
// The suffix has the letters of apimachinery's rand package.
func (n *Normalizer) addBase(object map[string]any) {
	base, _ := object["generateName"].(string)
	if base == "" {
		return
	}
	pattern := regexp.MustCompile(regexp.QuoteMeta(base[:min(len(base), maxBaseLength)]) + `([bcdfghjklmnpqrstvwxz2456789]{5})\b`)
	if !slices.ContainsFunc(n.bases, func(known *regexp.Regexp) bool { return known.String() == pattern.String() }) {
		n.bases = append(n.bases, pattern)
	}
}

var (
	wholeNumber = regexp.MustCompile(`^\d+$`)
	wholeAge    = regexp.MustCompile(`^(?:\d+[smhdy])+$`)
)

// valueFor is Value for a string under a key.
func (n *Normalizer) valueFor(key, text string) string {
	switch {
	case key == "resourceVersion" && wholeNumber.MatchString(text) && text != "0":
		return "$revision" // not an object's resourceVersion: writes to other objects change it
	case key == "continue":
		return orText(n.placeholder("continue", text), text)
	case key == "cells" && wholeAge.MatchString(text):
		return "$age"
	case key == "storageVersionHash", key == "serverAddress":
		return orText("$"+key, text)
	}
	return n.Text(text)
}

// orText returns symbol, or "" if text is empty.
func orText(symbol, text string) string {
	if text == "" {
		return ""
	}
	return symbol
}

// textPart is a part of a string: a placeholder if done, otherwise text in which placeholders are
// still to be inserted.
type textPart struct {
	text string
	done bool
}

// classPatterns match the values of a class in their first group.
var classPatterns = []struct {
	class   string
	pattern *regexp.Regexp
}{
	{"uid", regexp.MustCompile(`\b(` + uidText + `)\b`)},
	{"microtime", regexp.MustCompile(`\b(` + timeText + `\.\d{6}(?:Z|[+-]\d\d:\d\d))\b`)},
	{"time", regexp.MustCompile(`\b(` + timeText + `(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))\b`)},
	{"hash", regexp.MustCompile(`\?hash=([0-9A-Za-z]+)`)},
	{"revision", regexp.MustCompile(`\bresource version: [1-9]\d* \(([1-9]\d*)\)`)},
	{"revision", regexp.MustCompile(`(?i)\bresource ?version(?:: | in the precondition: | in object meta: |=)([1-9]\d*)\b`)},
	{"revision", regexp.MustCompile(`\bcurrent: ([1-9]\d*)\b`)},
	{"revision", regexp.MustCompile(`\bResourceVersion in (?:record|the precondition) \(([1-9]\d*)\)`)},
	{"continue", regexp.MustCompile(`[?&]continue=([^&]+)`)},
}

// number matches a possible resourceVersion in a text. Shorter numbers are too ambiguous.
var number = regexp.MustCompile(`\b(\d{4,})\b`)

// Text returns text with placeholders.
func (n *Normalizer) Text(text string) string {
	if len(text) < 4 {
		return text
	}
	pieces := []textPart{{text: text}}
	for _, pattern := range n.bases {
		pieces = n.replaceMatches(pieces, pattern, "rand")
	}
	for _, pattern := range n.numbered {
		pieces = n.replaceMatches(pieces, pattern, "num")
	}
	for _, one := range classPatterns {
		pieces = n.replaceMatches(pieces, one.pattern, one.class)
	}
	pieces = n.replaceMatches(pieces, number, "")
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

// replaceMatches replaces the first group of each match by a placeholder of the class. With the
// class "" it replaces only known resourceVersions.
func (n *Normalizer) replaceMatches(pieces []textPart, pattern *regexp.Regexp, class string) []textPart {
	var all []textPart
	for _, p := range pieces {
		if p.done {
			all = append(all, p)
			continue
		}
		at := 0
		for _, found := range pattern.FindAllStringSubmatchIndex(p.text, -1) {
			symbol := n.placeholderOf(class, p.text[found[2]:found[3]])
			if symbol == "" {
				continue
			}
			all = append(all, textPart{text: p.text[at:found[2]]}, textPart{text: symbol, done: true})
			at = found[3]
		}
		all = append(all, textPart{text: p.text[at:]})
	}
	return all
}

// placeholderOf returns the placeholder of a value found in a text, or "".
func (n *Normalizer) placeholderOf(class, value string) string {
	switch class {
	case "":
		if _, known := n.placeholders[binding{"rv", value}]; known {
			return "$revision"
		}
		return ""
	case "time", "microtime", "revision":
		return "$" + class
	}
	return n.placeholder(class, value)
}

// Headers returns h with placeholders. The values of the headers in opaque are replaced entirely.
func (n *Normalizer) Headers(h http.Header, opaque ...string) map[string][]string {
	written := map[string][]string{}
	for name, values := range h {
		for _, value := range values {
			written[name] = append(written[name], n.Text(value))
		}
	}
	for _, name := range opaque {
		if len(h.Values(name)) > 0 {
			written[name] = []string{"$opaque"}
		}
	}
	return written
}
