package conformance

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docFieldCheck = "Kubernetes API Concepts, Field validation"

// fieldValidationCases are about fields that the server does not know, and fields that stand twice (FV).
func fieldValidationCases() []Case {
	return slices.Concat(
		onMaps(Case{
			ID: "FV-01", Level: Must, Title: "fieldValidation is Ignore, Warn or Strict, and Warn where it is not given",
			Why:    "clients from before the parameter must go on working",
			Source: docFieldCheck,
		}, validationLevels),
		onMaps(Case{
			ID: "FV-02", Level: Must, Title: "another fieldValidation is refused",
			Why:    "a client that asks for strictness must not get less without being told",
			Source: "apimachinery apis/meta/v1/validation",
		}, noSuchValidation),
		onMaps(Case{
			ID: "FV-03", Level: Must, Title: "with Warn unknown and duplicate fields are dropped, with a warning for each",
			Why:    "kubectl shows the warnings to the user who mistyped",
			Source: docFieldCheck,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.all(ctx,
				ask(post(c.path(), c.mistaken("a")), code(201), warns(mistakes...), holds("last", "data", "k"), holds(nil, "bogus")),
				ask(post(c.path(), c.mistaken("b")).query("fieldValidation=Warn"), code(201), warns(mistakes...)),
			)
		}),
		[]Case{
			on((*session).replicaSets, Case{
				ID: "FV-03/nested/typed", Level: Must, Title: "a warning has the whole path of the field, through lists too",
				Why:    "the user finds the mistake",
				Source: docFieldCheck,
			}, func(ctx context.Context, s *session, c collection) error {
				wrong := replicaSet(c, "a", object{"containers": []object{container("c"), container("d").with("bogus", 1)}, "Volumes": []object{}})
				return s.try(ctx, post(c.path(), wrong), code(201),
					warns(`unknown field "spec.template.spec.containers[1].bogus"`, `unknown field "spec.template.spec.Volumes"`))
			}),
			on((*session).gadgets, Case{
				ID: "FV-03/nested/custom", Level: Must, Title: "a warning has the whole path of the field, through lists too",
				Why:    "the user finds the mistake",
				Source: docFieldCheck,
			}, func(ctx context.Context, s *session, c collection) error {
				wrong := c.object("a").with("spec", object{"parts": []object{{"name": "c"}, {"name": "d", "bogus": 1}}, "Size": 1, "tags": []string{"t"}})
				return s.try(ctx, post(c.path(), wrong), code(201), warns(`unknown field "spec.parts[1].bogus"`, `unknown field "spec.Size"`),
					holds(nil, "spec", "Size"), holds(object{"name": "d"}, "spec", "parts", "1"))
			}),
		},
		onMap(Case{
			ID: "FV-04", Level: Must, Title: "the warnings come also with a refusal",
			Why:    "the mistyped field may be the reason for it",
			Source: docFieldCheck,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.try(ctx, post(c.path(), c.mistaken("a")), alreadyExists(c, "a", "").check, warns(mistakes...))
		}),
		onMap(Case{
			ID: "FV-05", Level: Must, Title: "with Strict a create or an update with unknown or duplicate fields is refused",
			Why:    "a mistyped field is a mistake, not a wish",
			Source: docFieldCheck,
		}, strictBodies),
		onMap(Case{
			ID: "FV-06", Level: Must, Title: "with Strict a patch with unknown or duplicate fields is invalid",
			Why:    "a mistyped field is a mistake, not a wish",
			Source: docFieldCheck,
		}, strictPatches),
		onMaps(Case{
			ID: "FV-07", Level: Must, Title: "with Ignore unknown and duplicate fields are dropped silently",
			Why:    "that is what servers did before",
			Source: docFieldCheck,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.all(ctx,
				ask(post(c.path(), c.mistaken("a")).query("fieldValidation=Ignore"), code(201), warns(), holds("last", "data", "k"), holds(nil, "bogus")),
				ask(mergePatch(c.item("a"), object{"bogus": 1}).query("fieldValidation=Ignore"), code(200), warns(), holds(nil, "bogus")),
			)
		}),
		onMaps(Case{
			ID: "FV-08", Level: Must, Title: "unknown fields are never stored, and the last of two values of a field is",
			Why:    "what comes back is what the server understood",
			Source: docFieldCheck,
		}, unknownNotStored),
		[]Case{on((*session).gadgets, Case{
			ID: "FV-08/preserved/custom", Level: Must, Title: "what a schema says to preserve is stored, and not warned about",
			Why:    "the owner of the schema knows of fields that it does not name",
			Source: "Kubernetes documentation, Custom resources, Field pruning",
		}, func(ctx context.Context, s *session, c collection) error {
			free := c.object("a").with("spec", object{"free": object{"any": object{"thing": 1}}})
			return s.all(ctx,
				ask(post(c.path(), free).query("fieldValidation=Strict"), code(201), warns()),
				ask(get(c.item("a")), code(200), holds(1, "spec", "free", "any", "thing")),
			)
		})},
		onMaps(Case{
			ID: "FV-09", Level: Must, Title: "a value of the wrong type is refused whatever fieldValidation says",
			Why:    "it cannot be dropped without changing what the client meant",
			Source: docFieldCheck,
		}, wrongType),
		[]Case{on((*session).gadgets, Case{
			ID: "FV-09/required/custom", Level: Must, Title: "a missing field that is required is refused whatever fieldValidation says",
			Why:    "the schema is no matter of taste",
			Source: docFieldCheck,
		}, requiredMissing)},
		onMap(Case{
			ID: "FV-10", Level: Must, Title: "POST, PUT and all patches are looked at, down to the metadata",
			Why:    "a mistake is one wherever it is made",
			Source: docFieldCheck,
		}, validationEverywhere),
	)
}

// mistaken is a body with an unknown field, an unknown field of the metadata, and a duplicate field.
func (c collection) mistaken(name string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"bogus":1},"data":{"k":"first","k":"last"},"bogus":{"x":1}}`,
		c.apiVersion, c.kind, name)
}

// mistakes are the warnings about such a body.
var mistakes = []string{`unknown field "metadata.bogus"`, `duplicate field "data.k"`, `unknown field "bogus"`}

func validationLevels(ctx context.Context, s *session, c collection) error {
	unknown := func(name string) object { return c.object(name).with("bogus", 1) }
	const warning = `unknown field "bogus"`
	return s.all(ctx,
		ask(post(c.path(), unknown("a")), code(201), warns(warning)),
		ask(post(c.path(), unknown("b")).query("fieldValidation="), code(201), warns(warning)),
		ask(post(c.path(), unknown("c")).query("fieldValidation=Warn"), code(201), warns(warning)),
		ask(post(c.path(), unknown("d")).query("fieldValidation=Ignore"), code(201), warns()),
		ask(post(c.path(), unknown("e")).query("fieldValidation=Strict"), code(400), warns()),
		ask(post(c.path(), c.object("f")).query("fieldValidation=Strict"), code(201), warns()),
		ask(get(c.item("e")), code(404)),
	)
}

func noSuchValidation(ctx context.Context, s *session, c collection) error {
	refused := func(options, value string) expectation {
		return invalidOption(options, "fieldValidation", metav1.CauseTypeFieldValueNotSupported,
			fmt.Sprintf(`Unsupported value: %q: supported values: "", "Ignore", "Strict", "Warn"`, value)).check
	}
	return s.all(ctx,
		ask(post(c.path(), c.object("a")).query("fieldValidation=bogus"), refused("CreateOptions", "bogus")),
		ask(post(c.path(), c.object("a")).query("fieldValidation=strict"), refused("CreateOptions", "strict")),
		ask(get(c.item("a")), code(404)),
		ask(post(c.path(), c.object("a")), code(201)),
		ask(put(c.item("a"), c.object("a")).query("fieldValidation=bogus"), refused("UpdateOptions", "bogus")),
		ask(mergePatch(c.item("a"), object{}).query("fieldValidation=bogus"), refused("PatchOptions", "bogus")),
		ask(applyAs("m", c.item("a"), c.object("a")).query("fieldValidation=bogus"), refused("PatchOptions", "bogus")),
	)
}

// cannotBeHandled is how a body is refused for what strict decoding found.
func cannotBeHandled(c collection, found string) expectation {
	return badRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: strict decoding error: %s", c.kind, c.version(), c.kind, found))
}

// version is the version of the collection without its group.
func (c collection) version() string {
	if c.group == "" {
		return c.apiVersion
	}
	return c.apiVersion[len(c.group)+1:]
}

func strictBodies(ctx context.Context, s *session, c collection) error {
	before, err := s.object(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	const strict = "fieldValidation=Strict"
	unknown := func(name string) object { return c.object(name).data("k", "2").with("bogus", 1) }
	twice := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"b"},"data":{"k":"1","k":"2"}}`, c.apiVersion, c.kind)
	inMeta := c.object("b").meta("bogus", 1)
	return s.all(ctx,
		ask(post(c.path(), unknown("b")).query(strict), cannotBeHandled(c, `unknown field "bogus"`), warns()),
		ask(post(c.path(), inMeta).query(strict), cannotBeHandled(c, `unknown field "metadata.bogus"`), warns()),
		ask(post(c.path(), twice).query(strict), cannotBeHandled(c, `duplicate field "data.k"`), warns()),
		ask(post(c.path(), c.mistaken("b")).query(strict), badRequestThatSays(mistakes...)),
		ask(get(c.item("b")), code(404)),
		ask(put(c.item("a"), unknown("a")).query(strict), cannotBeHandled(c, `unknown field "bogus"`), warns()),
		ask(get(c.item("a")), code(200), unchanged(before)),
	)
}

// badRequestThatSays is a refusal whose message has all of these parts, in any order.
func badRequestThatSays(parts ...string) expectation {
	return func(a *answer) error {
		for _, part := range parts {
			if err := (refusal{code: 400, reason: metav1.StatusReasonBadRequest, says: part}).check(a); err != nil {
				return err
			}
		}
		return nil
	}
}

func strictPatches(ctx context.Context, s *session, c collection) error {
	before, err := s.object(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	strict := func(request call, found string) exchange {
		return ask(request.query("fieldValidation=Strict"), invalidPatch("strict decoding error: "+found).check, warns())
	}
	exchanges := []exchange{
		strict(mergePatch(c.item("a"), object{"bogus": 1}), `unknown field "bogus"`),
		strict(mergePatch(c.item("a"), object{"metadata": object{"bogus": 1}}), `unknown field "metadata.bogus"`),
		strict(mergePatch(c.item("a"), `{"data":{"k":"2","k":"3"}}`), `duplicate field "data.k"`),
		strict(jsonPatch(c.item("a"), object{"op": "add", "path": "/bogus", "value": 1}), `unknown field "bogus"`),
		strict(jsonPatch(c.item("a"), object{"op": "add", "path": "/data/l", "value": "1", "bogus": 1}), `json patch unknown field "[0].bogus"`),
	}
	if !c.custom() {
		exchanges = append(exchanges, strict(strategicPatch(c.item("a"), object{"bogus": 1}), `unknown field "bogus"`))
	}
	return s.all(ctx, append(exchanges, ask(get(c.item("a")), code(200), unchanged(before)))...)
}

func unknownNotStored(ctx context.Context, s *session, c collection) error {
	stored := func(value string) []expectation {
		return []expectation{code(200), holds(object{"k": value}, "data"), holds(nil, "bogus"), holds(nil, "metadata", "bogus")}
	}
	twice := `{"data":{"k":"2","k":"3"},"bogus":1,"metadata":{"bogus":1}}`
	return s.all(ctx,
		ask(post(c.path(), c.mistaken("a")), code(201)),
		ask(get(c.item("a")), stored("last")...),
		ask(mergePatch(c.item("a"), twice), code(200)),
		ask(get(c.item("a")), stored("3")...),
	)
}

func wrongType(ctx context.Context, s *session, c collection) error {
	wrong := c.object("a").with("data", object{"k": 5})
	refused := refusal{
		code: 400, reason: metav1.StatusReasonBadRequest, says: "json: cannot unmarshal number into Go struct field " + c.kind + ".data",
	}
	if c.custom() {
		refused = c.invalidField("a")
		refused.says = `data.k: Invalid value: "integer": data.k in body must be of type string: "integer"`
	}
	for _, level := range []string{"", "Ignore", "Warn", "Strict"} {
		if err := s.try(ctx, post(c.path(), wrong).query("fieldValidation="+level), refused.check); err != nil {
			return err
		}
	}
	return s.try(ctx, get(c.item("a")), code(404))
}

func requiredMissing(ctx context.Context, s *session, c collection) error {
	refused := c.invalidField("a")
	refused.says = "spec.parts[0].name: Required value"
	for _, level := range []string{"Ignore", "Warn", "Strict"} {
		nameless := c.object("a").with("spec", object{"parts": []object{{"quantity": 1}}})
		if err := s.try(ctx, post(c.path(), nameless).query("fieldValidation="+level), refused.check); err != nil {
			return err
		}
	}
	return s.try(ctx, get(c.item("a")), code(404))
}

func validationEverywhere(ctx context.Context, s *session, c collection) error {
	both := []string{`unknown field "bogus"`, `unknown field "metadata.bogus"`}
	mistaken := func(o object) object { return o.with("bogus", 1).with("metadata", object{"name": "a", "bogus": 1}) }
	before, err := s.object(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	exchanges := []exchange{
		ask(put(c.item("a"), mistaken(c.object("a").data("k", "2")).meta("resourceVersion", before.ResourceVersion)), code(200), warns(both...), holds("2", "data", "k")),
		ask(mergePatch(c.item("a"), mistaken(object{}).data("k", "3")), code(200), warns(both...), holds("3", "data", "k")),
		ask(jsonPatch(c.item("a"), object{"op": "add", "path": "/bogus", "value": 1}, object{"op": "add", "path": "/metadata/bogus", "value": 1}),
			code(200), warns(both...)),
		ask(jsonPatch(c.item("a"), object{"op": "replace", "path": "/data/k", "value": "4", "bogus": 1}),
			code(200), warns(`json patch unknown field "[0].bogus"`), holds("4", "data", "k")),
	}
	if !c.custom() {
		exchanges = append(exchanges, ask(strategicPatch(c.item("a"), mistaken(object{}).data("k", "5")), code(200), warns(both...), holds("5", "data", "k")))
	}
	return s.all(ctx, exchanges...)
}
