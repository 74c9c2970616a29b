package typedjson

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strconv"

	kjson "sigs.k8s.io/json"
)

// decoder reads JSON. Its methods that read something return false if it is not there.
type decoder struct {
	data []byte
	at   int
	// depth is the number of open lists and objects, up to maxDepth.
	depth int
	// isPatch reports whether data is a merge patch, isStrategic whether it is a strategic one.
	isPatch, isStrategic bool
}

// next skips white space and returns the byte that follows, or 0 at the end.
func (d *decoder) next() byte {
	for d.at < len(d.data) {
		switch c := d.data[d.at]; c {
		case ' ', '\t', '\n', '\r':
			d.at++
		default:
			return c
		}
	}
	return 0
}

// accept reads a byte after white space.
func (d *decoder) accept(c byte) bool {
	if d.next() != c {
		return false
	}
	d.at++
	return true
}

// literal reads true, false or null.
func (d *decoder) literal(text string) bool {
	if len(d.data)-d.at < len(text) || string(d.data[d.at:d.at+len(text)]) != text {
		return false
	}
	d.at += len(text)
	return true
}

// more reads the comma between two elements, or the end of a list or an object. done is true at the
// end. first is whether no element has been read yet.
func (d *decoder) more(end byte, first bool) (done, ok bool) {
	switch c := d.next(); {
	case c == end:
		d.at++
		return true, true
	case first:
		return false, true
	case c == ',':
		d.at++
		return false, d.next() != end
	}
	return false, false
}

// str reads a string. text is a part of the data if the string has no escapes and is ASCII.
func (d *decoder) str() (text []byte, ok bool) {
	if !d.accept('"') {
		return nil, false
	}
	start := d.at
	d.at += plainLen(d.data[d.at:])
	if d.at < len(d.data) && d.data[d.at] == '"' {
		d.at++
		return d.data[start : d.at-1], true
	}
	if !d.endOfString() {
		return nil, false
	}
	var s string
	if err := kjson.UnmarshalCaseSensitivePreserveInts(d.data[start-1:d.at], &s); err != nil {
		return nil, false
	}
	return []byte(s), true
}

// endOfString reads the rest of a string. It does not check its escapes.
func (d *decoder) endOfString() bool {
	for d.at < len(d.data) {
		switch d.data[d.at] {
		case '"':
			d.at++
			return true
		case '\\':
			d.at++
		}
		d.at++
	}
	return false
}

// plainLen returns the number of bytes before the first one that is not printable ASCII, or is a
// quote or a backslash.
func plainLen(s []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; len(s)-i >= 8; i += 8 {
		word := binary.LittleEndian.Uint64(s[i:])
		quotes, backslashes := word^(ones*'"'), word^(ones*'\\')
		// The high bit of a byte is set if the byte is less than a space, zero after the xor, or
		// not ASCII. Above such a byte it may be set for others too.
		if (word|(word-ones*' ')|(quotes-ones)|(backslashes-ones))&highs != 0 {
			break
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] < 0x80 && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// number reads a number that is an integer. Others are not supported.
func (d *decoder) number() (n int64, ok bool) {
	d.next()
	start := d.at
	for d.at < len(d.data) && isNumberByte(d.data[d.at]) {
		d.at++
	}
	text := d.data[start:d.at]
	digits := bytes.TrimPrefix(text, []byte("-"))
	if len(digits) == 0 || len(digits) > 1 && digits[0] == '0' {
		return 0, false
	}
	if len(digits) > 18 {
		n, err := strconv.ParseInt(string(text), 10, 64)
		return n, err == nil && digits[0] != '+'
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if len(digits) < len(text) {
		n = -n
	}
	return n, true
}

// raw reads any value and returns its text.
func (d *decoder) raw() (text []byte, ok bool) {
	d.next()
	start := d.at
	if !d.skip() {
		return nil, false
	}
	return d.data[start:d.at], true
}

// maxDepth is the depth up to which values are supported. The library supports more.
const maxDepth = 200

// skip reads any value and checks that it is valid.
func (d *decoder) skip() bool {
	switch c := d.next(); c {
	case '{', '[':
		return d.skipElements(c)
	case '"':
		return d.skipString()
	case 't':
		return d.literal("true")
	case 'f':
		return d.literal("false")
	case 'n':
		return d.literal("null")
	}
	start := d.at
	_, ok := d.number()
	return ok || json.Valid(d.data[start:d.at])
}

func isNumberByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// skipElements reads an object or a list, which begins with start.
func (d *decoder) skipElements(start byte) bool {
	if d.depth == maxDepth {
		return false
	}
	d.depth++
	defer func() { d.depth-- }()
	d.at++
	end := start + 2 // both in ASCII
	for first := true; ; first = false {
		done, ok := d.more(end, first)
		if done || !ok {
			return ok
		}
		if start == '{' && (d.next() != '"' || !d.skipString() || !d.accept(':')) {
			return false
		}
		if !d.skip() {
			return false
		}
	}
}

// skipString reads a string, and checks its escapes.
func (d *decoder) skipString() bool {
	start := d.at
	d.at++
	d.at += plainLen(d.data[d.at:])
	if d.at < len(d.data) && d.data[d.at] == '"' {
		d.at++
		return true
	}
	return d.endOfString() && json.Valid(d.data[start:d.at])
}
