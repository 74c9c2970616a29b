package conformance

import (
	"context"
	"fmt"
	"slices"
)

// fieldValidationYAMLCases returns the cases about unknown and duplicate fields in YAML, which
// another library decodes (FV).
func fieldValidationYAMLCases() []Case {
	return slices.Concat(
		onMaps(Case{
			ID: "FV-03/yaml", Level: Must, Title: "in YAML, too, each unknown or duplicate field is one warning",
			Why:    "users write YAML",
			Source: docFieldValidation,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(c.postYAML(""), code(201), warningsAre(yamlFieldWarnings...), valueAt("last", "data", "k"), valueAt(nil, "bogus")),
				send(del(c.item("a")), code(200)),
				send(c.postYAML("Ignore"), code(201), warningsAre(), valueAt("last", "data", "k")),
			)
		}),
		onMaps(Case{
			ID: "FV-05/yaml", Level: Must, Title: "in YAML, too, unknown and duplicate fields are rejected with Strict",
			Why:    "users write YAML",
			Source: docFieldValidation,
		}, func(ctx context.Context, s *session, c collection) error {
			found := "yaml: unmarshal errors:\n  " + yamlFieldWarnings[0] + ", " + yamlFieldWarnings[1]
			return s.expectAll(ctx,
				send(c.postYAML("Strict"), isStrictDecodingError(c, found), warningsAre()),
				send(get(c.item("a")), code(404)),
			)
		}),
		onMaps(Case{
			ID: "FV-10/apply", Level: Must, Title: "a duplicate field in an apply is a warning, or rejected with Strict",
			Why:    "errors are possible in every kind of write",
			Source: docPatchHandler,
		}, checkDuplicateApplied),
	)
}

// postYAML returns a create of an object "a" in YAML with a duplicate and an unknown field.
func (c collection) postYAML(validation string) call {
	body := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: a\ndata:\n  k: first\n  k: last\nbogus: 1\n", c.apiVersion, c.kind)
	request := post(c.path(), body).withQuery("fieldValidation=" + validation)
	request.contentType = "application/yaml"
	return request
}

// yamlFieldWarnings are the warnings about the body of postYAML.
var yamlFieldWarnings = []string{`line 7: key "k" already set in map`, `unknown field "bogus"`}

func checkDuplicateApplied(ctx context.Context, s *session, c collection) error {
	const found = `line 1: key "k" already set in map`
	twice := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a"},"data":{"k":"first","k":"last"}}`, c.apiVersion, c.kind)
	request := applyAs("m", c.item("a"), twice)
	return s.expectAll(ctx,
		send(request.withQuery("fieldValidation=Strict"), warningsAre(), badRequest(
			"error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:\n  "+found)),
		send(get(c.item("a")), code(404)),
		send(request, code(201), warningsAre(found), valueAt("last", "data", "k")),
		send(request.withQuery("fieldValidation=Ignore"), code(200), warningsAre()),
	)
}
