package storage

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

const malformedQualifiedName = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character ` +
	`(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`

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
