package jsonvalue

import (
	"bytes"
	"unicode/utf8"

	kjson "sigs.k8s.io/json"
)

// Decode returns the object that kjson.UnmarshalCaseSensitivePreserveInts decodes into a nil map:
// numbers are int64 or float64. It keeps no reference to data.
func Decode(data []byte) (map[string]any, error) {
	if object, ok := decodeObject(data); ok {
		return object, nil
	}
	var object map[string]any
	err := kjson.UnmarshalCaseSensitivePreserveInts(data, &object)
	return object, err
}

// DecodeStrict is Decode with the results of kjson.UnmarshalStrict. problems are the duplicate
// fields.
func DecodeStrict(data []byte) (object map[string]any, problems []error, err error) {
	if object, ok := decodeObject(data); ok {
		return object, nil, nil
	}
	problems, err = kjson.UnmarshalStrict(data, &object)
	return object, problems, err
}

// maxDepth is the depth up to which values are decoded without the library.
const maxDepth = 500

// decoder decodes values at the beginning of rest. Its methods report whether the value can be
// decoded without the library. If not, the library decodes the whole text.
type decoder struct {
	rest  []byte
	depth int
	// items and fields have those of the lists and objects that are being decoded.
	items  []any
	fields []field
	// names has some of the names of fields so far, by a hash.
	names [64]string
}

type field struct {
	name  string
	value any
}

// decodeObject decodes a text without duplicate fields that is an object.
func decodeObject(data []byte) (map[string]any, bool) {
	d := &decoder{rest: data, items: make([]any, 0, 16), fields: make([]field, 0, 32)}
	if d.next() != '{' {
		return nil, false
	}
	object, ok := d.object()
	if !ok || d.next() != 0 || len(d.rest) > 0 {
		return nil, false
	}
	return object, true
}

// next skips white space and returns the byte after it, which remains; 0 at the end.
func (d *decoder) next() byte {
	for i, c := range d.rest {
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			d.rest = d.rest[i:]
			return c
		}
	}
	d.rest = nil
	return 0
}

// skip skips white space and the byte c, and reports whether it is there.
func (d *decoder) skip(c byte) bool {
	if d.next() != c {
		return false
	}
	d.rest = d.rest[1:]
	return true
}

func (d *decoder) value() (any, bool) {
	switch c := d.next(); c {
	case '{':
		return d.object()
	case '[':
		return d.list()
	case '"':
		text, ok := d.text()
		if !ok {
			return nil, false
		}
		return decodeString(text)
	case 't':
		return true, d.word("true")
	case 'f':
		return false, d.word("false")
	case 'n':
		return nil, d.word("null")
	default:
		return d.number(c)
	}
}

// word skips a word and reports whether it is there.
func (d *decoder) word(word string) bool {
	if !bytes.HasPrefix(d.rest, []byte(word)) {
		return false
	}
	d.rest = d.rest[len(word):]
	return true
}

// enter is called at the beginning of a list or an object, which ends with the byte end. It reports
// whether it has any elements, and whether it is not nested too deeply.
func (d *decoder) enter(end byte) (hasElements, ok bool) {
	d.rest = d.rest[1:]
	d.depth++
	return !d.skip(end), d.depth <= maxDepth
}

// more is called after an element and reports whether another one follows.
func (d *decoder) more(end byte) (more, ok bool) {
	switch {
	case d.skip(','):
		return true, true
	case d.skip(end):
		return false, true
	}
	return false, false
}

func (d *decoder) list() (any, bool) {
	more, ok := d.enter(']')
	first := len(d.items)
	for more && ok {
		var item any
		if item, ok = d.value(); ok {
			d.items = append(d.items, item)
			more, ok = d.more(']')
		}
	}
	list := append(make([]any, 0, len(d.items)-first), d.items[first:]...)
	clear(d.items[first:])
	d.items = d.items[:first]
	d.depth--
	return list, ok
}

func (d *decoder) object() (map[string]any, bool) {
	more, ok := d.enter('}')
	first := len(d.fields)
	for more && ok {
		var f field
		if f, ok = d.field(); ok {
			d.fields = append(d.fields, f)
			more, ok = d.more('}')
		}
	}
	fields := d.fields[first:]
	object := make(map[string]any, len(fields))
	for _, f := range fields {
		object[f.name] = f.value
	}
	clear(fields)
	d.fields = d.fields[:first]
	d.depth--
	return object, ok && len(object) == len(fields)
}

func (d *decoder) field() (f field, ok bool) {
	if d.next() != '"' {
		return f, false
	}
	text, ok := d.text()
	if !ok {
		return f, false
	}
	if f.name, ok = d.name(text); !ok || !d.skip(':') {
		return f, false
	}
	f.value, ok = d.value()
	return f, ok
}

// name returns the string of a text, the same one each time if possible.
func (d *decoder) name(text text) (string, bool) {
	content := text.content()
	if text.isQuoted || len(content) == 0 {
		return decodeString(text)
	}
	known := &d.names[(len(content)*7+int(content[0])*3+int(content[len(content)-1]))%len(d.names)]
	if *known != string(content) {
		*known = string(content)
	}
	return *known, true
}

// text is a string in JSON, with its quotes.
type text struct {
	literal []byte
	// isQuoted reports whether the content is not the string itself.
	isQuoted bool
}

func (t text) content() []byte { return t.literal[1 : len(t.literal)-1] }

// text returns the string at the beginning.
func (d *decoder) text() (t text, ok bool) {
	isASCII := true
	for i := 1; i < len(d.rest); i++ {
		switch c := d.rest[i]; {
		case c == '"':
			t.literal, d.rest = d.rest[:i+1], d.rest[i+1:]
			t.isQuoted = t.isQuoted || !isASCII && !utf8.Valid(t.literal)
			return t, true
		case c == '\\':
			t.isQuoted = true
			i++ // the escaped byte does not end the string
		case c < ' ':
			return t, false
		case c >= utf8.RuneSelf:
			isASCII = false
		}
	}
	return t, false
}

// decodeString returns the string of a text.
func decodeString(t text) (string, bool) {
	if !t.isQuoted {
		return string(t.content()), true
	}
	if s, ok := unescape(t.content()); ok {
		return s, true
	}
	var s string
	err := kjson.UnmarshalCaseSensitivePreserveInts(t.literal, &s)
	return s, err == nil
}

// unescape returns an ASCII string of which only quotes, backslashes, tabs and newlines are
// escaped.
func unescape(content []byte) (string, bool) {
	out := make([]byte, 0, 128)
	for i := 0; i < len(content); i++ {
		c := content[i]
		if c >= utf8.RuneSelf {
			return "", false
		}
		if c == '\\' {
			i++ // there is a byte, because the quote that ends the string is not escaped
			switch c = content[i]; c {
			case '"', '\\':
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			default:
				return "", false
			}
		}
		out = append(out, c)
	}
	return string(out), true
}

// number returns the number at the beginning, whose first byte is c.
func (d *decoder) number(c byte) (any, bool) {
	const maxDigits = 18 // which are less than the largest int64
	var n int64
	i := 0
	for ; i < len(d.rest) && isDigit(d.rest[i]); i++ {
		if i < maxDigits {
			n = 10*n + int64(d.rest[i]-'0')
		}
	}
	isInteger := i > 0 && (c != '0' || i == 1) && i <= maxDigits && (i == len(d.rest) || !isNumeric(d.rest[i]))
	if isInteger {
		d.rest = d.rest[i:]
		return n, true
	}
	for i < len(d.rest) && isNumeric(d.rest[i]) {
		i++
	}
	if i == 0 {
		return nil, false
	}
	var number any
	err := kjson.UnmarshalCaseSensitivePreserveInts(d.rest[:i], &number)
	d.rest = d.rest[i:]
	return number, err == nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isNumeric reports whether a byte can be in a number.
func isNumeric(c byte) bool {
	return isDigit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}
