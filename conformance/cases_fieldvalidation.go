package conformance

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docFieldValidation = "Kubernetes API Concepts, Field validation"

// fieldValidationCases returns the cases about unknown and duplicate fields (FV).
func fieldValidationCases() []Case {
	return slices.Concat(
		onMaps(Case{
			ID: "FV-01", Level: Must, Title: "fieldValidation is Ignore, Warn or Strict, and Warn by default",
			Why:    "clients without the parameter must keep working",
			Source: docFieldValidation,
		}, checkFieldValidationLevels),
		onMaps(Case{
			ID: "FV-02", Level: Must, Title: "other values of fieldValidation are rejected",
			Why:    "a misspelled value must not weaken the validation",
			Source: "apimachinery apis/meta/v1/validation",
		}, checkInvalidFieldValidation),
		onMaps(Case{
			ID: "FV-03", Level: Must, Title: "with Warn, unknown and duplicate fields are dropped, with a warning for each",
			Why:    "kubectl shows the warnings to the user",
			Source: docFieldValidation,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(post(c.path(), c.bodyWithFieldErrors("a")), code(201), warningsAre(fieldWarnings...), valueAt("last", "data", "k"), valueAt(nil, "bogus")),
				send(post(c.path(), c.bodyWithFieldErrors("b")).withQuery("fieldValidation=Warn"), code(201), warningsAre(fieldWarnings...)),
			)
		}),
		[]Case{
			onCollection((*session).replicaSets, Case{
				ID: "FV-03/nested/typed", Level: Must, Title: "a warning has the full path of the field, through lists too",
				Why:    "the user can find the error",
				Source: docFieldValidation,
			}, func(ctx context.Context, s *session, c collection) error {
				wrong := replicaSet(c, "a", object{"containers": []object{container("c"), container("d").with("bogus", 1)}, "Volumes": []object{}})
				return s.expect(ctx, post(c.path(), wrong), code(201),
					warningsAre(`unknown field "spec.template.spec.containers[1].bogus"`, `unknown field "spec.template.spec.Volumes"`))
			}),
			onCollection((*session).dataCRs, Case{
				ID: "FV-03/nested/custom", Level: Must, Title: "a warning has the full path of the field, through lists too",
				Why:    "the user can find the error",
				Source: docFieldValidation,
			}, func(ctx context.Context, s *session, c collection) error {
				wrong := c.object("a").with("spec", object{"parts": []object{{"name": "c"}, {"name": "d", "bogus": 1}}, "Size": 1, "tags": []string{"t"}})
				return s.expect(ctx, post(c.path(), wrong), code(201), warningsAre(`unknown field "spec.parts[1].bogus"`, `unknown field "spec.Size"`),
					valueAt(nil, "spec", "Size"), valueAt(object{"name": "d"}, "spec", "parts", "1"))
			}),
		},
		onMap(Case{
			ID: "FV-04", Level: Must, Title: "warnings are also sent with errors",
			Why:    "the unknown field may have caused the error",
			Source: docFieldValidation,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, post(c.path(), c.bodyWithFieldErrors("a")), alreadyExists(c, "a", "").check, warningsAre(fieldWarnings...))
		}),
		onMap(Case{
			ID: "FV-05", Level: Must, Title: "with Strict, a create or update with unknown or duplicate fields is rejected",
			Why:    "an unknown field is an error",
			Source: docFieldValidation,
		}, checkStrictBodies),
		onMap(Case{
			ID: "FV-06", Level: Must, Title: "with Strict, a patch with unknown or duplicate fields is invalid",
			Why:    "an unknown field is an error",
			Source: docFieldValidation,
		}, checkStrictPatches),
		onMaps(Case{
			ID: "FV-07", Level: Must, Title: "with Ignore, unknown and duplicate fields are dropped silently",
			Why:    "servers without the parameter did so",
			Source: docFieldValidation,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(post(c.path(), c.bodyWithFieldErrors("a")).withQuery("fieldValidation=Ignore"), code(201), warningsAre(), valueAt("last", "data", "k"), valueAt(nil, "bogus")),
				send(mergePatch(c.item("a"), object{"bogus": 1}).withQuery("fieldValidation=Ignore"), code(200), warningsAre(), valueAt(nil, "bogus")),
			)
		}),
		onMaps(Case{
			ID: "FV-08", Level: Must, Title: "unknown fields are never stored, and the last value of a duplicate field is",
			Why:    "the response shows what the server decoded",
			Source: docFieldValidation,
		}, checkUnknownNotStored),
		[]Case{onCollection((*session).dataCRs, Case{
			ID: "FV-08/preserved/custom", Level: Must, Title: "fields that the schema preserves are stored without a warning",
			Why:    "the owner of the schema allows fields that it does not list",
			Source: "Kubernetes documentation, Custom resources, Field pruning",
		}, func(ctx context.Context, s *session, c collection) error {
			free := c.object("a").with("spec", object{"free": object{"any": object{"thing": 1}}})
			return s.expectAll(ctx,
				send(post(c.path(), free).withQuery("fieldValidation=Strict"), code(201), warningsAre()),
				send(get(c.item("a")), code(200), valueAt(1, "spec", "free", "any", "thing")),
			)
		})},
		onMaps(Case{
			ID: "FV-09", Level: Must, Title: "a value of the wrong type is rejected with every fieldValidation",
			Why:    "it cannot be dropped without changing the meaning",
			Source: docFieldValidation,
		}, checkWrongType),
		[]Case{onCollection((*session).dataCRs, Case{
			ID: "FV-09/required/custom", Level: Must, Title: "a missing required field is rejected with every fieldValidation",
			Why:    "the schema is always enforced",
			Source: docFieldValidation,
		}, checkRequiredMissing)},
		onMap(Case{
			ID: "FV-10", Level: Must, Title: "POST, PUT and all patches are validated, including metadata",
			Why:    "errors are possible in every kind of write",
			Source: docFieldValidation,
		}, checkFieldValidationEverywhere),
	)
}

// bodyWithFieldErrors returns a body with an unknown field, an unknown field of the metadata, and a
// duplicate field.
func (c collection) bodyWithFieldErrors(name string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"bogus":1},"data":{"k":"first","k":"last"},"bogus":{"x":1}}`,
		c.apiVersion, c.kind, name)
}

// fieldWarnings are the warnings about bodyWithFieldErrors.
var fieldWarnings = []string{`unknown field "metadata.bogus"`, `duplicate field "data.k"`, `unknown field "bogus"`}

func checkFieldValidationLevels(ctx context.Context, s *session, c collection) error {
	unknown := func(name string) object { return c.object(name).with("bogus", 1) }
	const warning = `unknown field "bogus"`
	return s.expectAll(ctx,
		send(post(c.path(), unknown("a")), code(201), warningsAre(warning)),
		send(post(c.path(), unknown("b")).withQuery("fieldValidation="), code(201), warningsAre(warning)),
		send(post(c.path(), unknown("c")).withQuery("fieldValidation=Warn"), code(201), warningsAre(warning)),
		send(post(c.path(), unknown("d")).withQuery("fieldValidation=Ignore"), code(201), warningsAre()),
		send(post(c.path(), unknown("e")).withQuery("fieldValidation=Strict"), code(400), warningsAre()),
		send(post(c.path(), c.object("f")).withQuery("fieldValidation=Strict"), code(201), warningsAre()),
		send(get(c.item("e")), code(404)),
	)
}

func checkInvalidFieldValidation(ctx context.Context, s *session, c collection) error {
	rejected := func(options, value string) expectation {
		return invalidOption(options, "fieldValidation", metav1.CauseTypeFieldValueNotSupported,
			fmt.Sprintf(`Unsupported value: %q: supported values: "", "Ignore", "Strict", "Warn"`, value)).check
	}
	return s.expectAll(ctx,
		send(post(c.path(), c.object("a")).withQuery("fieldValidation=bogus"), rejected("CreateOptions", "bogus")),
		send(post(c.path(), c.object("a")).withQuery("fieldValidation=strict"), rejected("CreateOptions", "strict")),
		send(get(c.item("a")), code(404)),
		send(post(c.path(), c.object("a")), code(201)),
		send(put(c.item("a"), c.object("a")).withQuery("fieldValidation=bogus"), rejected("UpdateOptions", "bogus")),
		send(mergePatch(c.item("a"), object{}).withQuery("fieldValidation=bogus"), rejected("PatchOptions", "bogus")),
		send(applyAs("m", c.item("a"), c.object("a")).withQuery("fieldValidation=bogus"), rejected("PatchOptions", "bogus")),
	)
}

// isStrictDecodingError expects the response to a body that strict decoding rejects.
func isStrictDecodingError(c collection, found string) expectation {
	return badRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: strict decoding error: %s", c.kind, c.version(), c.kind, found))
}

// version returns the version of the collection without its group.
func (c collection) version() string {
	if c.group == "" {
		return c.apiVersion
	}
	return c.apiVersion[len(c.group)+1:]
}

func checkStrictBodies(ctx context.Context, s *session, c collection) error {
	before, err := s.doObject(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	const strict = "fieldValidation=Strict"
	unknown := func(name string) object { return c.object(name).withData("k", "2").with("bogus", 1) }
	twice := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"b"},"data":{"k":"1","k":"2"}}`, c.apiVersion, c.kind)
	inMeta := c.object("b").withMeta("bogus", 1)
	return s.expectAll(ctx,
		send(post(c.path(), unknown("b")).withQuery(strict), isStrictDecodingError(c, `unknown field "bogus"`), warningsAre()),
		send(post(c.path(), inMeta).withQuery(strict), isStrictDecodingError(c, `unknown field "metadata.bogus"`), warningsAre()),
		send(post(c.path(), twice).withQuery(strict), isStrictDecodingError(c, `duplicate field "data.k"`), warningsAre()),
		send(post(c.path(), c.bodyWithFieldErrors("b")).withQuery(strict), badRequestContaining(fieldWarnings...)),
		send(get(c.item("b")), code(404)),
		send(put(c.item("a"), unknown("a")).withQuery(strict), isStrictDecodingError(c, `unknown field "bogus"`), warningsAre()),
		send(get(c.item("a")), code(200), isUnchanged(before)),
	)
}

// badRequestContaining expects a BadRequest whose message contains all of these parts, in any
// order.
func badRequestContaining(parts ...string) expectation {
	return func(r *response) error {
		for _, part := range parts {
			if err := (failure{code: 400, reason: metav1.StatusReasonBadRequest, contains: part}).check(r); err != nil {
				return err
			}
		}
		return nil
	}
}

func checkStrictPatches(ctx context.Context, s *session, c collection) error {
	before, err := s.doObject(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	strict := func(request call, found string) exchange {
		return send(request.withQuery("fieldValidation=Strict"), invalidPatch("strict decoding error: "+found).check, warningsAre())
	}
	exchanges := []exchange{
		strict(mergePatch(c.item("a"), object{"bogus": 1}), `unknown field "bogus"`),
		strict(mergePatch(c.item("a"), object{"metadata": object{"bogus": 1}}), `unknown field "metadata.bogus"`),
		strict(mergePatch(c.item("a"), `{"data":{"k":"2","k":"3"}}`), `duplicate field "data.k"`),
		strict(jsonPatch(c.item("a"), object{"op": "add", "path": "/bogus", "value": 1}), `unknown field "bogus"`),
		strict(jsonPatch(c.item("a"), object{"op": "add", "path": "/data/l", "value": "1", "bogus": 1}), `json patch unknown field "[0].bogus"`),
	}
	if !c.isCustom() {
		exchanges = append(exchanges, strict(strategicPatch(c.item("a"), object{"bogus": 1}), `unknown field "bogus"`))
	}
	return s.expectAll(ctx, append(exchanges, send(get(c.item("a")), code(200), isUnchanged(before)))...)
}

func checkUnknownNotStored(ctx context.Context, s *session, c collection) error {
	stored := func(value string) []expectation {
		return []expectation{code(200), valueAt(object{"k": value}, "data"), valueAt(nil, "bogus"), valueAt(nil, "metadata", "bogus")}
	}
	twice := `{"data":{"k":"2","k":"3"},"bogus":1,"metadata":{"bogus":1}}`
	return s.expectAll(ctx,
		send(post(c.path(), c.bodyWithFieldErrors("a")), code(201)),
		send(get(c.item("a")), stored("last")...),
		send(mergePatch(c.item("a"), twice), code(200)),
		send(get(c.item("a")), stored("3")...),
	)
}

func checkWrongType(ctx context.Context, s *session, c collection) error {
	wrong := c.object("a").with("data", object{"k": 5})
	rejected := failure{
		code: 400, reason: metav1.StatusReasonBadRequest, contains: "json: cannot unmarshal number into Go struct field " + c.kind + ".data",
	}
	if c.isCustom() {
		rejected = c.invalidField("a")
		rejected.contains = `data.k: Invalid value: "integer": data.k in body must be of type string: "integer"`
	}
	for _, level := range []string{"", "Ignore", "Warn", "Strict"} {
		if err := s.expect(ctx, post(c.path(), wrong).withQuery("fieldValidation="+level), rejected.check); err != nil {
			return err
		}
	}
	return s.expect(ctx, get(c.item("a")), code(404))
}

func checkRequiredMissing(ctx context.Context, s *session, c collection) error {
	rejected := c.invalidField("a")
	rejected.contains = "spec.parts[0].name: Required value"
	for _, level := range []string{"Ignore", "Warn", "Strict"} {
		nameless := c.object("a").with("spec", object{"parts": []object{{"quantity": 1}}})
		if err := s.expect(ctx, post(c.path(), nameless).withQuery("fieldValidation="+level), rejected.check); err != nil {
			return err
		}
	}
	return s.expect(ctx, get(c.item("a")), code(404))
}

func checkFieldValidationEverywhere(ctx context.Context, s *session, c collection) error {
	both := []string{`unknown field "bogus"`, `unknown field "metadata.bogus"`}
	mistaken := func(o object) object { return o.with("bogus", 1).with("metadata", object{"name": "a", "bogus": 1}) }
	before, err := s.doObject(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	exchanges := []exchange{
		send(put(c.item("a"), mistaken(c.object("a").withData("k", "2")).withMeta("resourceVersion", before.ResourceVersion)), code(200), warningsAre(both...), valueAt("2", "data", "k")),
		send(mergePatch(c.item("a"), mistaken(object{}).withData("k", "3")), code(200), warningsAre(both...), valueAt("3", "data", "k")),
		send(jsonPatch(c.item("a"), object{"op": "add", "path": "/bogus", "value": 1}, object{"op": "add", "path": "/metadata/bogus", "value": 1}),
			code(200), warningsAre(both...)),
		send(jsonPatch(c.item("a"), object{"op": "replace", "path": "/data/k", "value": "4", "bogus": 1}),
			code(200), warningsAre(`json patch unknown field "[0].bogus"`), valueAt("4", "data", "k")),
	}
	if !c.isCustom() {
		exchanges = append(exchanges, send(strategicPatch(c.item("a"), mistaken(object{}).withData("k", "5")), code(200), warningsAre(both...), valueAt("5", "data", "k")))
	}
	return s.expectAll(ctx, exchanges...)
}
