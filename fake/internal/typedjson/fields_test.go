package typedjson

import (
	"encoding/json"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFieldsLen(t *testing.T) {
	deep := strings.Repeat(`{"f:a":`, maxDepth-1) + "{}" + strings.Repeat("}", maxDepth-1)
	for _, text := range []string{
		`{}`, `{"f:a":{}}`, `{"f:a":{},"f:b":{".":{},"f:c":{"f:d":{}}},"f:e":{}}`, `{"k:{\"a\":\"b\\c\"}":{},"v:\/":{}}`, deep,
	} {
		require.Equal(t, len(text), fieldsLen([]byte(text)), text)
		require.Equal(t, len(text), fieldsLen([]byte(text+`,"time":"x"}`)), text)
		for n := range len(text) {
			require.Zero(t, fieldsLen([]byte(text[:n])), text[:n])
		}
	}
	for _, text := range []string{
		`null`, `"a"`, ` {}`, `{ }`, `{"a" :{}}`, `{"a": {}}`, `{"a b":{}}`, `{"a":1}`, `{"a":null}`, `{"a":[]}`, `{,}`, `{"a":{},}`, `{"a":{}"b":{}}`,
		`{"a"}`, `{"a":}`, `{"a":{}{}}`, `{"\u0061":{}}`, `{"\x":{}}`, "{\"a\n\":{}}", `{"é":{}}`, `{"<":{}}`, `{">":{}}`, `{"&":{}}`, `{"f:a":` + deep + `}`,
	} {
		require.Zero(t, fieldsLen([]byte(text)), text)
	}
}

// Where fieldsLen finds a text, the library reads it and writes it unchanged.
func TestFieldsLenOfRandomText(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	base := `{"f:a":{},"f:b":{".":{},"f:c":{"k:{\"a\":\"b\"}":{}}},"f:d":{}}`
	const parts = "{}\",:\\.abu/ <>&\n\x7f\xc3\xa9"
	found := 0
	for range 200_000 {
		text := []byte(base)
		for range 1 + random.Intn(3) {
			switch i := random.Intn(len(text)); random.Intn(3) {
			case 0:
				text[i] = parts[random.Intn(len(parts))]
			case 1:
				text = append(text[:i], text[i+1:]...)
			default:
				text = append(text[:i], append([]byte{parts[random.Intn(len(parts))]}, text[i:]...)...)
			}
		}
		n := fieldsLen(text)
		if n == 0 {
			continue
		}
		found++
		var fields metav1.FieldsV1
		require.NoError(t, json.Unmarshal(text[:n], &fields), "%q", text)
		encoded, err := json.Marshal(&fields)
		require.NoError(t, err)
		require.Equal(t, string(text[:n]), string(encoded))
	}
	require.Greater(t, found, 10_000)
}
