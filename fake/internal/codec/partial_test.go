package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomJSON returns a random value, of which many strings need escapes.
func randomJSON(random *rand.Rand, depth int) any {
	texts := []string{"", "a", "b", "c", `"`, `\`, `\\`, `\"`, `\\"`, "}", "{", "]", ",", ":", "ä\n", `a"b`}
	switch n := random.IntN(8); {
	case n < 3 && depth > 0:
		object := map[string]any{}
		for range random.IntN(5) {
			object[texts[random.IntN(len(texts))]] = randomJSON(random, depth-1)
		}
		return object
	case n < 5 && depth > 0:
		array := make([]any, random.IntN(4))
		for i := range array {
			array[i] = randomJSON(random, depth-1)
		}
		return array
	case n == 5:
		return []any{nil, true, false, 0, -1.5e9, 17}[random.IntN(6)]
	}
	return texts[random.IntN(len(texts))] + texts[random.IntN(len(texts))]
}

// without removes fields from a value.
func without(value any, omitted FieldSet) any {
	switch value := value.(type) {
	case map[string]any:
		for name, below := range omitted {
			if len(below) == 0 {
				delete(value, name)
			} else if field, ok := value[name]; ok {
				value[name] = without(field, below)
			}
		}
	case []any:
		for i := range value {
			value[i] = without(value[i], omitted)
		}
	}
	return value
}

// Fields are removed from encoded values as from decoded ones.
func TestAppendWithout(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, omitted := range []FieldSet{{}, {"a": nil}, {"a": {"b": nil, "c": nil}, "b": nil}, {"": nil, "c": {"c": {"c": nil}}}, {"a": {"a": {"a": nil}}, "b": {"": nil}}} {
		for range 5000 {
			value := randomJSON(random, 6)
			data, err := json.Marshal(value)
			require.NoError(t, err)
			want, err := json.Marshal(without(value, omitted))
			require.NoError(t, err)
			for _, after := range []string{"", ",1", "}", "]"} {
				got, rest := appendWithout(nil, append(bytes.Clone(data), after...), omitted)
				require.Equal(t, string(want), string(got), "%s without %v", data, omitted)
				require.Equal(t, after, string(rest), "%s", data)
			}
		}
	}
}

// The end of a string is its first quote after an even number of backslashes.
func TestStringEnd(t *testing.T) {
	for n := range 6 {
		text := strings.Repeat(`\\`, n) + `\"`
		data := fmt.Sprintf(`"%s" and more"`, text)
		require.Equal(t, len(text)+2, stringEnd([]byte(data)))
	}
}
