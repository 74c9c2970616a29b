package networking

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// parse returns the object of a YAML document.
func parse[T any](t *testing.T, text string) *T {
	t.Helper()
	obj := new(T)
	body, err := yaml.YAMLToJSONStrict([]byte(text))
	require.NoError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(obj))
	return obj
}
