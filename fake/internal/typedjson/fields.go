package typedjson

import "bytes"

// fieldsLen returns the length of the FieldsV1 that data begins with, if the library encodes it as
// it is: it has objects only, no white space, nothing but ASCII, and no characters and escapes that
// encoding/json writes otherwise. If not, it returns 0.
func fieldsLen(data []byte) int {
	depth := 0
	for i := 0; i < len(data) && data[i] == '{' && depth < maxDepth; {
		i++
		depth++
		isFirst := true
		for i < len(data) && data[i] == '}' {
			i++
			depth--
			isFirst = false
			if depth == 0 {
				return i
			}
		}
		if !isFirst {
			if i == len(data) || data[i] != ',' {
				return 0
			}
			i++
		}
		n := fieldLen(data[i:])
		if n == 0 {
			return 0
		}
		i += n
	}
	return 0
}

// fieldLen returns the length of the name and the colon that data begins with, or 0.
func fieldLen(data []byte) int {
	if len(data) == 0 || data[0] != '"' {
		return 0
	}
	for i := 1; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			if i+1 == len(data) || data[i+1] != ':' {
				return 0
			}
			return i + 2
		case c == '\\':
			if i++; i == len(data) || bytes.IndexByte([]byte(`"\/bfnrt`), data[i]) < 0 {
				return 0
			}
		case c <= ' ' || c >= 0x80 || c == '<' || c == '>' || c == '&':
			return 0
		}
	}
	return 0
}
