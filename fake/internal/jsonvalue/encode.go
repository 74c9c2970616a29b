package jsonvalue

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Append appends the JSON of a value as json.Marshal returns it: with sorted keys, and with <, >
// and & escaped. The value is what Decode returns, or has other values that json.Marshal encodes.
func Append(data []byte, value any) ([]byte, error) {
	switch value := value.(type) {
	case nil:
		return append(data, "null"...), nil
	case string:
		return AppendString(data, value), nil
	case bool:
		return strconv.AppendBool(data, value), nil
	case int64:
		return strconv.AppendInt(data, value, 10), nil
	case map[string]any:
		return appendObject(data, value)
	case []any:
		return appendList(data, value)
	case *Gap:
		data = append(data, `""`...)
		value.Offset = len(data) - 1
		return data, nil
	}
	return appendMarshaled(data, value)
}

// Gap is a value that is encoded as an empty string. Append sets the offset between its quotes.
type Gap struct{ Offset int }

// appendMarshaled lets the library encode a value.
func appendMarshaled(data []byte, value any) ([]byte, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return append(data, encoded...), nil
}

func appendObject(data []byte, object map[string]any) (_ []byte, err error) {
	if object == nil {
		return append(data, "null"...), nil
	}
	var buffer [16]string
	names := buffer[:0]
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	data = append(data, '{')
	for i, name := range names {
		if i > 0 {
			data = append(data, ',')
		}
		data = append(AppendString(data, name), ':')
		if data, err = Append(data, object[name]); err != nil {
			return nil, err
		}
	}
	return append(data, '}'), nil
}

func appendList(data []byte, list []any) (_ []byte, err error) {
	if list == nil {
		return append(data, "null"...), nil
	}
	data = append(data, '[')
	for i, item := range list {
		if i > 0 {
			data = append(data, ',')
		}
		if data, err = Append(data, item); err != nil {
			return nil, err
		}
	}
	return append(data, ']'), nil
}

// AppendString appends the JSON of a string as json.Marshal returns it. The library encodes one
// with anything but ASCII and simple escapes.
func AppendString(data []byte, s string) []byte {
	before := len(data)
	data = append(data, '"')
	begin := 0 // of the bytes that are not yet appended
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
		case c == '\n':
			c = 'n'
		case c == '\t':
			c = 't'
		case c < ' ', c == '<', c == '>', c == '&', c >= utf8.RuneSelf:
			encoded, _ := json.Marshal(s) // a string can always be encoded
			return append(data[:before], encoded...)
		default:
			continue
		}
		data = append(append(data, s[begin:i]...), '\\', c)
		begin = i + 1
	}
	return append(append(data, s[begin:]...), '"')
}
