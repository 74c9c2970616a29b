package networking

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

const (
	malformedSubdomain = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character ` +
		`(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
	malformedLabel = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character ` +
		`(e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`
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

// errorTexts returns the texts of errors, nil if there are none.
func errorTexts(errs field.ErrorList) (texts []string) {
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return texts
}
