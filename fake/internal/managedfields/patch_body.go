package managedfields

import (
	"bytes"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"example.com/fakeapi/fake/internal/jsonvalue"
)

// Patch is an apply patch: a configuration in YAML or JSON. It is for one goroutine.
type Patch struct {
	text []byte
	// isPlain is whether the patch is plain JSON without duplicate keys. config is then the decoded
	// patch, until it is used.
	isPlain bool
	config  map[string]any
}

// NewPatch returns the patch with a text, which must not be changed.
func NewPatch(text []byte) *Patch {
	p := &Patch{text: text}
	if isPlainJSON(text) {
		config, duplicates, err := jsonvalue.DecodeStrict(text)
		p.config, p.isPlain = config, err == nil && len(duplicates) == 0 && config != nil
	}
	return p
}

// IsPlain reports whether the patch is known to be valid JSON and valid YAML. It is false for some
// patches that are.
func (p *Patch) IsPlain() bool { return p.isPlain }

// decode decodes the patch as YAML, as kube-apiserver does with all of them. A number without a
// fraction is an integer, also if it is written as 3.0 or 3e0. The caller may change the result.
func (p *Patch) decode() (map[string]any, error) {
	if config := p.config; p.isPlain && config != nil {
		p.config = nil
		return config, nil
	}
	if isPlainJSON(p.text) {
		if config, err := jsonvalue.Decode(p.text); err == nil && config != nil {
			return config, nil
		}
	}
	config := map[string]any{}
	err := utilyaml.Unmarshal(p.text, &config)
	return config, err
}

// checkDuplicateKeys returns the error of the YAML library for duplicate keys.
func (p *Patch) checkDuplicateKeys() error {
	if p.isPlain {
		return nil
	}
	return utilyaml.UnmarshalStrict(p.text, &map[string]any{})
}

const (
	maxPlainKey    = 1000 // YAML has a limit of 1024 characters
	maxPlainDigits = 18   // fewer than those of the largest int64
	maxPlainDepth  = 100
)

// isPlainJSON reports whether a patch, if it is valid JSON, is decoded with the same result as JSON
// and as YAML. Decoding JSON is much faster. It reports false for what few clients send: fractions
// and exponents, large integers, characters and escapes that YAML reads otherwise or refuses, long
// keys, and space before a colon.
func isPlainJSON(patch []byte) bool {
	depth := 0
	for i := 0; i < len(patch); i++ {
		switch c := patch[i]; {
		case c == '"':
			end := plainStringEnd(patch, i)
			if end < 0 || !isPlainKey(patch[i:end], patch[end:]) {
				return false
			}
			i = end - 1
		case c == '-' || '0' <= c && c <= '9':
			number := leadingNumber(patch[i:])
			if len(number) > maxPlainDigits || number[0] == '-' && (len(number) == 1 || number[1] == '0') ||
				bytes.ContainsAny(number, ".eE") {
				return false
			}
			i += len(number) - 1
		case c == '{' || c == '[':
			if depth++; depth > maxPlainDepth {
				return false
			}
		case c == '}' || c == ']':
			depth--
		case c != '\n' && (c < ' ' || c > '~'):
			return false
		}
	}
	return true
}

// plainStringEnd returns the index after the string that begins at start, or -1 if YAML may read it
// otherwise than JSON.
func plainStringEnd(patch []byte, start int) int {
	for i := start + 1; i < len(patch); i++ {
		switch c := patch[i]; {
		case c == '"':
			return i + 1
		case c < ' ' || c > '~':
			return -1
		case c != '\\':
		case i+1 < len(patch) && bytes.IndexByte([]byte(`"\bfnrt`), patch[i+1]) >= 0:
			i++
		case i+2 < len(patch) && patch[i+1] == 'u' && patch[i+2] == '0': // not a surrogate
			i++
		default:
			return -1
		}
	}
	return -1
}

// isPlainKey reports whether text, a string that rest follows, is no key or one that YAML accepts.
func isPlainKey(text, rest []byte) bool {
	after := bytes.TrimLeft(rest, " \n")
	isKey := len(after) > 0 && after[0] == ':'
	return !isKey || len(text) <= maxPlainKey && len(after) == len(rest)
}

// leadingNumber returns the number that text begins with.
func leadingNumber(text []byte) []byte {
	end := bytes.IndexFunc(text, func(r rune) bool {
		return !('0' <= r && r <= '9' || r == '-' || r == '+' || r == '.' || r == 'e' || r == 'E')
	})
	if end < 0 {
		return text
	}
	return text[:end]
}
