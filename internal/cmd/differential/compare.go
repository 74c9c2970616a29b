package differential

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"example.com/fakeapi/internal/cmd/httpdiff"
)

// comparedHeaders are the response headers that are compared.
var comparedHeaders = []string{"Allow", "Cache-Control", "Content-Type", "Location", "Retry-After", "Warning", "Www-Authenticate"}

// comparison compares the responses of a sequence in order.
type comparison struct {
	normalizer    *httpdiff.Normalizer
	placeholders  *httpdiff.Placeholders
	canonicalizer httpdiff.Canonicalizer
}

func newComparison() *comparison {
	return &comparison{
		normalizer:    httpdiff.NewNormalizer(),
		placeholders:  httpdiff.NewPlaceholders("", true),
		canonicalizer: httpdiff.NewCanonicalizer(nil).SortingManagers(),
	}
}

// request reads the body of a request: messages about an invalid object contain its generated name.
func (c *comparison) request(body []byte) {
	c.normalizer.Value(httpdiff.BodyAs("", body))
}

// responses returns the differences of two responses. If the status codes differ, the rest is not
// compared.
func (c *comparison) responses(left, right *response) (d httpdiff.Differences) {
	if left.code != right.code || left.err != nil || right.err != nil {
		return httpdiff.Differences{{At: "code", Left: left.summary(), Right: right.summary()}}
	}
	c.placeholders.CompareHeaders(comparedHeaders, c.normalizer.Headers(left.header), right.header, &d)
	l, r := left.value(), right.value()
	c.placeholders.Compare("body", c.normalizer.Value(c.canonicalizer.Body(l)), c.canonicalizer.Body(r), &d)
	if len(d) == 0 && left.isJSON() && right.isJSON() {
		if l, r := keyOrder(left.body), keyOrder(right.body); l != r {
			d = append(d, httpdiff.Difference{At: "order of keys", Left: l, Right: r})
		}
	}
	return d
}

// value returns the body as a value, without the random parts of messages.
func (r *response) value() any {
	body := httpdiff.DecodeBody(r.header, r.body)
	if status, ok := body.(map[string]any); ok && status["kind"] == "Status" {
		replaceMessage(status)
		details, _ := status["details"].(map[string]any)
		causes, _ := details["causes"].([]any)
		for _, cause := range causes {
			if cause, ok := cause.(map[string]any); ok {
				replaceMessage(cause)
			}
		}
	}
	return body
}

// replaceMessage replaces the random parts of the message of a Status or of a cause.
func replaceMessage(o map[string]any) {
	message, ok := o["message"].(string)
	if !ok {
		return
	}
	if beginning := randomRest.FindString(message); beginning != "" {
		message = beginning + " ..."
	} else if strings.HasPrefix(message, ".") && strings.HasSuffix(message, undeclaredField) {
		message = "..." + undeclaredField
	}
	o["message"] = typeOfSelf.ReplaceAllString(message, "selfType")
}

// randomRest matches the beginning of a message about an apply that does not conform to the schema,
// or about a patch whose result cannot be decoded. The rest of the first has some of the errors, in
// random order, and addresses in memory, that of the second has the object.
var randomRest = regexp.MustCompile(`^(?:failed to (?:create typed patch object|convert new object)[^:]*:|(?: "" is invalid: patch: )?Invalid value: "\{)`)

// typeOfSelf matches the random name of a type in a message about a CEL rule.
var typeOfSelf = regexp.MustCompile(`selfType\d+`)

// undeclaredField ends the message of an apply whose result has fields that another version does
// not have. It names one of them.
const undeclaredField = ": field not declared in schema"

// streams returns the differences of two watches.
func (c *comparison) streams(left, right *stream) (d httpdiff.Differences) {
	lefts, leftEnded := left.events()
	rights, rightEnded := right.events()
	for i := range min(len(lefts), len(rights)) {
		c.placeholders.Compare(fmt.Sprintf("event %d", i), c.normalizer.Value(c.canonicalizer.Event(lefts[i])), c.canonicalizer.Event(rights[i]), &d)
		if len(d) > 0 {
			return d
		}
	}
	if len(lefts) != len(rights) {
		n := min(len(lefts), len(rights))
		d = append(d, httpdiff.Difference{At: "events", Left: httpdiff.Short(lefts[n:]), Right: httpdiff.Short(rights[n:]), Note: fmt.Sprintf("%d and %d events", len(lefts), len(rights))})
	}
	if leftEnded != rightEnded {
		d = append(d, httpdiff.Difference{At: "end of the watch", Left: fmt.Sprintf("ended: %v", leftEnded), Right: fmt.Sprintf("ended: %v", rightEnded)})
	}
	return d
}

// keyOrder returns the keys of a JSON object of which not all are sorted, up to the third level, or
// "" if all are sorted or the body is not an object.
func keyOrder(body []byte) string {
	decoder := json.NewDecoder(bytes.NewReader(body))
	var b strings.Builder
	if keysOf(decoder, &b, 3) != nil {
		return ""
	}
	return b.String()
}

// keysOf writes the keys of the next value.
func keysOf(decoder *json.Decoder, b *strings.Builder, depth int) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	if delimiter, ok := token.(json.Delim); !ok || delimiter == '}' || delimiter == ']' {
		return nil
	}
	b.WriteString("{")
	for decoder.More() {
		if token == json.Delim('{') {
			key, err := decoder.Token()
			if err != nil {
				return err
			}
			if depth > 0 {
				fmt.Fprintf(b, "%v ", key)
			}
		}
		into := b
		if depth == 0 {
			into = &strings.Builder{}
		}
		if err := keysOf(decoder, into, max(0, depth-1)); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	b.WriteString("}")
	return err
}

// Patterns of the parts of texts that vary between differences with the same cause.
var (
	quoted        = regexp.MustCompile(`\\?"(?:[^"\\]|\\[^"])*\\?"`)
	numbers       = regexp.MustCompile(`\d+`)
	indexes       = regexp.MustCompile(`\[\d+\]`)
	objectName    = regexp.MustCompile(`/(widgets|configmaps|deployments)/[a-z0-9-]+`)
	generatedName = regexp.MustCompile(`[a-z]*(?:list|map|any|string|integer|number|boolean|object|array|intorstring|embedded)\d+`)
)

// signature returns a text that is equal for differences that probably have the same cause.
func signature(s Step, d httpdiff.Differences) string {
	sorted := slices.SortedStableFunc(slices.Values(d), func(a, b httpdiff.Difference) int { return cmp.Compare(rank(a), rank(b)) })
	first := sorted[0]
	path := objectName.ReplaceAllString(strings.Replace(s.Path, "/namespaces/{ns}", "", 1), "/$1/NAME")
	if s.Watch {
		path = "watch " + path
	}
	if s.Method == http.MethodPatch {
		path += " " + strings.TrimPrefix(s.ContentType, "application/")
	}
	left, right := class(first, first.Left), class(first, first.Right)
	return strings.Join(strings.Fields(strings.Join([]string{s.Method, path, general(first.At) + ":", left, "|", right, general(first.Note)}, " ")), " ")
}

// class returns a value of a difference without its details. Of values in a body, other than
// messages, it is the type.
func class(d httpdiff.Difference, value string) string {
	switch {
	case value == "":
		return "nothing"
	case strings.HasPrefix(d.At, "order"):
		return "keys"
	case strings.HasPrefix(d.At, "body") && !isMessage(d.At) || strings.HasPrefix(d.At, "event"):
		switch value[0] {
		case '{':
			return "object"
		case '[':
			return "list"
		case '"':
			return "string"
		case 'n', 't', 'f':
			return value
		}
		return "number"
	case strings.HasPrefix(value, `"`) && len(value) > 1: // a message is a string with quotes inside
		value = value[1 : len(value)-1]
	case d.At == "code" && value[0] == '2':
		return value[:min(3, len(value))]
	}
	return general(value)
}

// isMessage reports whether a place in a body is the message of a Status or of a cause.
func isMessage(at string) bool {
	return at == "body.message" || strings.HasPrefix(at, "body.details.causes[") && strings.HasSuffix(at, ".message")
}

// rank orders differences: of the status code, of headers, of the body.
func rank(d httpdiff.Difference) int {
	switch {
	case d.At == "code":
		return 0
	case strings.HasPrefix(d.At, "body.metadata"):
		return 3
	case strings.HasPrefix(d.At, "header"):
		return 1
	}
	return 2
}

// general returns text without the parts that vary.
func general(text string) string {
	text = generatedName.ReplaceAllStringFunc(text, func(name string) string { return numbers.ReplaceAllString(name, "") })
	text = indexes.ReplaceAllString(text, "[]")
	text = quoted.ReplaceAllString(text, `"…"`)
	code, rest, found := strings.Cut(text, " ")
	if found && len(code) == len("200") {
		text = code + " " + numbers.ReplaceAllString(rest, "N")
	} else {
		text = numbers.ReplaceAllString(text, "N")
	}
	const longest = 160
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest])
	}
	return text
}

// isFailure reports whether a status code is that of an error.
func isFailure(code int) bool { return code >= http.StatusBadRequest }
