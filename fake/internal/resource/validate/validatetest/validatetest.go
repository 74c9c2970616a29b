// Package validatetest has what the tests of the validation of built-in types share.
package validatetest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// Parse returns the object of a YAML document, which has no unknown fields.
func Parse[T any](t testing.TB, text string) *T {
	t.Helper()
	obj := new(T)
	body, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// RequireErrors requires that errors have these texts, in this order.
func RequireErrors(t testing.TB, errs field.ErrorList, want ...string) {
	t.Helper()
	if got, want := strings.Join(Texts(errs), "\n"), strings.Join(want, "\n"); got != want {
		t.Fatalf("errors:\n%s\nwant:\n%s", got, want)
	}
}

// Texts returns the text of each error: its field, and its message in a Status.
func Texts(errs field.ErrorList) (texts []string) {
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return texts
}

// Messages of names that are malformed.
const (
	BadLabel     = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
	BadSubdomain = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
