package conformance

import (
	"context"
	"fmt"
	"slices"
)

// fieldValidationYAMLCases are about unknown and duplicate fields in YAML, which is read by another library (FV).
func fieldValidationYAMLCases() []Case {
	return slices.Concat(
		onMaps(Case{
			ID: "FV-03/yaml", Level: Must, Title: "in YAML, too, each mistake is one warning",
			Why:    "users write YAML",
			Source: docFieldCheck,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.all(ctx,
				ask(c.postYAML(""), code(201), warns(yamlMistakes...), holds("last", "data", "k"), holds(nil, "bogus")),
				ask(del(c.item("a")), code(200)),
				ask(c.postYAML("Ignore"), code(201), warns(), holds("last", "data", "k")),
			)
		}),
		onMaps(Case{
			ID: "FV-05/yaml", Level: Must, Title: "in YAML, too, mistakes are refused with Strict",
			Why:    "users write YAML",
			Source: docFieldCheck,
		}, func(ctx context.Context, s *session, c collection) error {
			found := "yaml: unmarshal errors:\n  " + yamlMistakes[0] + ", " + yamlMistakes[1]
			return s.all(ctx,
				ask(c.postYAML("Strict"), cannotBeHandled(c, found), warns()),
				ask(get(c.item("a")), code(404)),
			)
		}),
		onMaps(Case{
			ID: "FV-10/apply", Level: Must, Title: "what stands twice in an apply is a warning, or refused with Strict",
			Why:    "a mistake is one wherever it is made",
			Source: patchHandler,
		}, duplicateApplied),
	)
}

// postYAML creates an object "a" from YAML with a duplicate and an unknown field.
func (c collection) postYAML(validation string) call {
	body := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: a\ndata:\n  k: first\n  k: last\nbogus: 1\n", c.apiVersion, c.kind)
	request := post(c.path(), body).query("fieldValidation=" + validation)
	request.contentType = "application/yaml"
	return request
}

// yamlMistakes are the warnings about it.
var yamlMistakes = []string{`line 7: key "k" already set in map`, `unknown field "bogus"`}

func duplicateApplied(ctx context.Context, s *session, c collection) error {
	const found = `line 1: key "k" already set in map`
	twice := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a"},"data":{"k":"first","k":"last"}}`, c.apiVersion, c.kind)
	request := applyAs("m", c.item("a"), twice)
	return s.all(ctx,
		ask(request.query("fieldValidation=Strict"), warns(), badRequest(
			"error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:\n  "+found)),
		ask(get(c.item("a")), code(404)),
		ask(request, code(201), warns(found), holds("last", "data", "k")),
		ask(request.query("fieldValidation=Ignore"), code(200), warns()),
	)
}
