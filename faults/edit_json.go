package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// editJSON sets the value at path in a JSON document, or removes it if value is nil. value is JSON.
// Missing parent objects are created. All other bytes of the document are unchanged.
func editJSON(doc []byte, path []string, value []byte) ([]byte, error) {
	from, to := 0, len(doc) // the current value
	for i, key := range path {
		c, err := readChildren(doc[from:to])
		if value == nil && errors.Is(err, errScalar) {
			return doc, nil // nothing to remove
		}
		if err != nil {
			return nil, fmt.Errorf("the value at %q is %w", "/"+strings.Join(path[:i], "/"), err)
		}
		c.addOffset(from)
		at, err := c.indexOf(key)
		switch {
		case at < 0 && value == nil:
			return doc, nil
		case err != nil:
			return nil, err
		case at < 0:
			return c.insert(doc, key, wrapInObjects(path[i+1:], value)), nil
		case i == len(path)-1 && value == nil:
			return c.remove(doc, at), nil
		}
		from, to = c.list[at].from, c.list[at].to
	}
	return slices.Concat(doc[:from], value, doc[to:]), nil
}

// wrapInObjects wraps a value in nested objects with one member each.
func wrapInObjects(path []string, value []byte) []byte {
	for _, key := range slices.Backward(path) {
		value = slices.Concat([]byte("{"), quoteJSON(key), []byte(":"), value, []byte("}"))
	}
	return value
}

func quoteJSON(s string) []byte {
	data, err := json.Marshal(s)
	if err != nil {
		panic("faults: a string does not encode: " + err.Error())
	}
	return data
}

// jsonChildren are the positions of the values of an object or array.
type jsonChildren struct {
	object bool
	start  int // after the opening bracket
	list   []jsonChild
}

// jsonChild is the position of one value. begin is the start of its key, or of the value in an
// array.
type jsonChild struct {
	key             string
	begin, from, to int
}

var (
	errInvalidJSON = errors.New("not valid JSON")
	errScalar      = errors.New("neither an object nor a list")
)

// readChildren reads one level of a document.
func readChildren(doc []byte) (jsonChildren, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	first, err := d.Token()
	if err != nil {
		return jsonChildren{}, errInvalidJSON
	}
	c := jsonChildren{object: first == json.Delim('{'), start: int(d.InputOffset())}
	if !c.object && first != json.Delim('[') {
		return c, errScalar
	}
	for d.More() {
		child := jsonChild{begin: skipSeparators(doc, int(d.InputOffset()))}
		if c.object {
			key, err := d.Token()
			if err != nil {
				return c, errInvalidJSON
			}
			child.key, _ = key.(string)
		}
		child.from = skipSeparators(doc, int(d.InputOffset()))
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return c, errInvalidJSON
		}
		child.to = int(d.InputOffset())
		c.list = append(c.list, child)
	}
	if _, err := d.Token(); err != nil {
		return c, errInvalidJSON
	}
	return c, nil
}

// skipSeparators returns the offset of the next key or value.
func skipSeparators(doc []byte, at int) int {
	return len(doc) - len(bytes.TrimLeft(doc[at:], " \t\r\n,:"))
}

// addOffset adds an offset to all positions.
func (c *jsonChildren) addOffset(by int) {
	c.start += by
	for i := range c.list {
		c.list[i].begin += by
		c.list[i].from += by
		c.list[i].to += by
	}
}

// indexOf returns the index of the value for a key. If there is none, it returns -1, with an error
// for a list.
func (c *jsonChildren) indexOf(key string) (int, error) {
	if c.object {
		return slices.IndexFunc(c.list, func(child jsonChild) bool { return child.key == key }), nil
	}
	at, err := strconv.Atoi(key)
	if err != nil || at < 0 || at >= len(c.list) {
		return -1, fmt.Errorf("a list of %d has no item %q", len(c.list), key)
	}
	return at, nil
}

// insert returns doc with a member after all others.
func (c *jsonChildren) insert(doc []byte, key string, value []byte) []byte {
	at, comma := c.start, ""
	if n := len(c.list); n > 0 {
		at, comma = c.list[n-1].to, ","
	}
	return slices.Concat(doc[:at], []byte(comma), quoteJSON(key), []byte(":"), value, doc[at:])
}

// remove returns doc without a value and one of the commas next to it.
func (c *jsonChildren) remove(doc []byte, at int) []byte {
	from, to := c.list[at].begin, c.list[at].to
	switch {
	case at > 0:
		from = c.list[at-1].to
	case len(c.list) > 1:
		to = c.list[1].begin
	}
	return slices.Concat(doc[:from], doc[to:])
}

// parsePointer parses a JSON pointer (RFC 6901) that is not empty.
func parsePointer(pointer string) ([]string, error) {
	rest, ok := strings.CutPrefix(pointer, "/")
	if !ok {
		return nil, fmt.Errorf("%q is not a JSON pointer such as /metadata/name", pointer)
	}
	path := strings.Split(rest, "/")
	for i, key := range path {
		if bad := strings.NewReplacer("~0", "", "~1", "").Replace(key); strings.Contains(bad, "~") {
			return nil, fmt.Errorf("%q is not a JSON pointer: ~ must be followed by 0 or 1", pointer)
		}
		path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
	}
	return path, nil
}
