package codec

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// storedMetadata precedes the metadata in the stored JSON of built-in types.
var storedMetadata = []byte(`{"metadata":{`)

// MetadataOnly returns the beginning of the stored JSON of an object of a built-in type, up to the
// end of its metadata. With a closing brace it is the JSON of the metadata alone.
func MetadataOnly(rec *memstore.Record) ([]byte, error) {
	if !bytes.HasPrefix(rec.Data, storedMetadata) {
		return nil, fmt.Errorf("stored %s does not begin with its metadata", rec.Key)
	}
	begin := len(storedMetadata) - 1
	end := begin + valueEnd(rec.Data[begin:])
	return rec.Data[:end:end], nil
}

// CustomMetadata returns the metadata of a custom resource in r's version, in JSON with the fields
// in alphabetical order.
func CustomMetadata(r *resource.Resource, rec *memstore.Record) ([]byte, error) {
	data, err := ConvertedJSON(r, rec)
	if err != nil {
		return nil, err
	}
	metadata, ok := metadataJSON(data)
	if !ok {
		return nil, fmt.Errorf("%s has no metadata", rec.Key)
	}
	return metadata, nil
}

// FieldSet is a set of fields of a type, by their names in JSON. A field with an empty set is in it
// with all below it. The fields of the elements of an array are those of the array.
type FieldSet map[string]FieldSet

// DecodeStoredWithout is DecodeStored for readers that do not need some of the fields, which are
// zero or missing in the object. That is faster.
func DecodeStoredWithout(r *resource.Resource, rec *memstore.Record, omitted FieldSet) (runtime.Object, error) {
	data := rec.Data
	if r.Custom != nil {
		var err error
		if data, err = ConvertedJSON(r, rec); err != nil {
			return nil, err
		}
	}
	data, _ = appendWithout(make([]byte, 0, len(data)), data, omitted)
	if r.Custom != nil {
		return decodeCustomJSON(r, rec, data)
	}
	return decodeStored(r, rec, data)
}

// appendWithout appends the JSON value at the beginning of data without some of its fields, and
// returns what follows the value. data is valid JSON without spaces, as it is stored.
func appendWithout(b, data []byte, omitted FieldSet) (out, rest []byte) {
	end := byte('}')
	switch {
	case len(omitted) == 0 || data[0] != '{' && data[0] != '[':
		n := valueEnd(data)
		return append(b, data[:n]...), data[n:]
	case data[0] == '[':
		end = ']'
	}
	b, data = append(b, data[0]), data[1:]
	for first := true; data[0] != end; {
		if data[0] == ',' {
			data = data[1:]
		}
		below := omitted
		if end == '}' {
			n := stringEnd(data)
			key := data[:n+len(":")]
			data = data[len(key):]
			var found bool
			if below, found = omitted[string(key[1:n-1])]; found && len(below) == 0 {
				data = data[valueEnd(data):]
				continue
			}
			if !first {
				b = append(b, ',')
			}
			b = append(b, key...)
		} else if !first {
			b = append(b, ',')
		}
		first = false
		b, data = appendWithout(b, data, below)
	}
	return append(b, end), data[1:]
}

// valueEnd returns the length of the value at the beginning of valid JSON.
func valueEnd(data []byte) int {
	depth := 0
	for i := 0; i < len(data); {
		switch data[i] {
		case '"':
			i += stringEnd(data[i:])
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			if depth == 0 {
				return i // the end of what contains a number, true, false or null
			}
			depth--
			i++
		case ',':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			i++
			continue
		}
		if depth == 0 {
			return i
		}
	}
	return len(data)
}

// stringEnd returns the length of the string at the beginning of valid JSON.
func stringEnd(data []byte) int {
	for i := 1; ; {
		i += bytes.IndexByte(data[i:], '"') + 1
		escapes := i - 2
		for data[escapes] == '\\' {
			escapes--
		}
		if (i-escapes)%2 == 0 {
			return i
		}
	}
}
