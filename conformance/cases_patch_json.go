package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// jsonPatchCases returns the cases about JSON merge patches and JSON patches (PA).
func jsonPatchCases() []Case {
	return slices.Concat(
		onMap(Case{
			ID: "PA-06", Level: Must, Title: "in a merge patch, null removes a field, and lists are replaced",
			Why:    "RFC 7386 specifies it",
			Source: docPatch,
		}, checkMergePatch),
		[]Case{onCollection((*session).dataCRs, Case{
			ID: "PA-06/default/custom", Level: Must, Title: "a merge patch that removes a field with a default sets the default",
			Why:    "a field with a default always has a value",
			Source: "Kubernetes documentation, Custom resources, Defaulting",
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(post(c.path(), c.object("a").with("spec", object{"color": "red", "size": 1})), code(201), valueAt("red", "spec", "color")),
				send(mergePatch(c.item("a"), object{"spec": object{"color": nil}}), code(200), valueAt(object{"color": "grey", "size": 1}, "spec")),
				send(mergePatch(c.item("a"), object{"spec": nil}), code(200), valueAt(nil, "spec")),
			)
		})},
		onMap(Case{
			ID: "PA-07", Level: Must, Title: "a JSON patch supports add, remove, replace, move, copy and test",
			Why:    "RFC 6902 specifies it",
			Source: docPatch,
		}, checkJSONPatch),
		onMap(Case{
			ID: "PA-07/atomic", Level: Must, Title: "a JSON patch that fails midway changes nothing",
			Why:    "a test at its end guards the whole patch",
			Source: docPatch,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(jsonPatch(c.item("a"),
					object{"op": "replace", "path": "/data/k", "value": "2"},
					object{"op": "test", "path": "/data/k", "value": "1"}), code(422)),
				send(get(c.item("a")), code(200), valueAt("1", "data", "k")),
			)
		}),
		onMap(Case{
			ID: "PA-08", Level: Must, Title: "a JSON patch that cannot be applied is rejected as Invalid without details",
			Why:    "after a failed test a client reads the object and retries",
			Source: docPatchHandler,
		}, checkJSONPatchErrors),
		onMap(Case{
			ID: "PA-09", Level: Must, Title: "a JSON patch that is not a list and a merge patch that is not an object are rejected",
			Why:    "the media type does not match",
			Source: docPatchHandler,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(patch(jsonPatchType, c.item("a"), object{"op": "add"}),
					badRequest("error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp")),
				send(patch(mergePatchType, c.item("a"), []object{}),
					badRequest("error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}")),
			)
		}),
		onMap(Case{
			ID: "PA-10", Level: Must, Title: "a patch that is not JSON is rejected",
			Why:    "a malformed patch must not be applied in part",
			Source: docPatchHandler,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(patch(mergePatchType, c.item("a"), `{"data":{"k":"2"}`), badRequest("invalid JSON patch")),
				send(patch(jsonPatchType, c.item("a"), `garbage`), badRequest("invalid JSON patch")),
				send(patch(mergePatchType, c.item("a"), ""), badRequest("invalid JSON patch")),
				send(get(c.item("a")), code(200), valueAt("1", "data", "k")),
			)
		}),
		onMap(Case{
			ID: "PA-11", Level: Must, Title: "a JSON patch has at most 10000 operations",
			Why:    "each operation costs the server time",
			Source: docPatchHandler,
		}, checkJSONPatchLength),
		onMap(Case{
			ID: "PA-12", Level: Must, Title: "a JSON patch may not copy more than 3 MiB",
			Why:    "repeated copies would fill the memory of the server",
			Source: "apiserver pkg/server/config.go, JSONPatchMaxCopyBytes",
		}, checkJSONPatchCopies),
	)
}

// checkMergePatch replaces a list of finalizers. The finalizer of the suite stays.
func checkMergePatch(ctx context.Context, s *session, c collection) error {
	const another = "conformance.example.com/other"
	return s.expectAll(ctx,
		send(mergePatch(c.item("a"), object{
			"metadata": object{"finalizers": []string{another, finalizer}, "labels": object{"l": "1", "m": "1"}},
			"data":     object{"k": nil, "new": "1"},
		}), code(200), valueAt(object{"new": "1"}, "data")),
		send(mergePatch(c.item("a"), object{"metadata": object{"finalizers": []string{finalizer}, "labels": object{"l": nil}}}),
			code(200), valueAt([]string{finalizer}, "metadata", "finalizers"), valueAt(object{"m": "1"}, "metadata", "labels")),
		send(mergePatch(c.item("a"), object{"data": nil, "metadata": object{"finalizers": nil, "labels": object{"l": nil}}}),
			code(200), valueAt(nil, "data"), valueAt(nil, "metadata", "finalizers"), valueAt(object{"m": "1"}, "metadata", "labels")),
	)
}

func checkJSONPatch(ctx context.Context, s *session, c collection) error {
	return s.expectAll(ctx,
		send(jsonPatch(c.item("a"),
			object{"op": "test", "path": "/data/k", "value": "1"},
			object{"op": "add", "path": "/data/added", "value": "2"},
			object{"op": "replace", "path": "/data/k", "value": "3"},
			object{"op": "copy", "from": "/data/k", "path": "/data/copied"},
			object{"op": "move", "from": "/data/added", "path": "/data/moved"},
			object{"op": "add", "path": "/metadata/labels", "value": object{"a~b": "no", "l": "1"}},
			object{"op": "remove", "path": "/metadata/labels/a~0b"},
			object{"op": "add", "path": "/metadata/labels/example.com~1x", "value": "4"}),
			code(200), valueAt(object{"k": "3", "copied": "3", "moved": "2"}, "data"),
			valueAt(object{"l": "1", "example.com/x": "4"}, "metadata", "labels")),
		send(jsonPatch(c.item("a"), object{"op": "remove", "path": "/data"}), code(200), valueAt(nil, "data")),
	)
}

// isUnprocessable expects that a valid patch cannot be applied.
func isUnprocessable() expectation {
	return failure{
		code: 422, reason: metav1.StatusReasonInvalid, details: &metav1.StatusDetails{},
		message: "the server rejected our request due to an error in our request",
	}.check
}

func checkJSONPatchErrors(ctx context.Context, s *session, c collection) error {
	for _, operation := range []object{
		{"op": "test", "path": "/data/k", "value": "2"},
		{"op": "test", "path": "/data/absent", "value": "2"},
		{"op": "remove", "path": "/data/absent"},
		{"op": "add", "path": "/absent/k", "value": "2"},
		{"op": "move", "from": "/data/absent", "path": "/data/k"},
		{"op": "bogus", "path": "/data/k"},
		{"op": "add"},
	} {
		if err := s.expect(ctx, jsonPatch(c.item("a"), operation), isUnprocessable()); err != nil {
			return err
		}
	}
	return s.expect(ctx, get(c.item("a")), code(200), valueAt(object{"k": "1"}, "data"))
}

// testOperations returns a JSON patch of n operations that change nothing.
func testOperations(n int) string {
	return "[" + strings.Repeat(`{"op":"test","path":"/data/k","value":"1"},`, n-1) + `{"op":"test","path":"/data/k","value":"1"}]`
}

func checkJSONPatchLength(ctx context.Context, s *session, c collection) error {
	const maxOperations = 10_000
	return s.expectAll(ctx,
		send(patch(jsonPatchType, c.item("a"), testOperations(maxOperations)), code(200)),
		send(patch(jsonPatchType, c.item("a"), testOperations(maxOperations+1)), failure{
			code: 413, reason: metav1.StatusReasonRequestEntityTooLarge,
			message: fmt.Sprintf("Request entity too large: The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, maxOperations+1),
		}.check),
	)
}

// checkJSONPatchCopies copies a value of half a MiB too often. The patch removes the copies, so
// that only the limit of copied bytes is exceeded.
func checkJSONPatchCopies(ctx context.Context, s *session, c collection) error {
	const size = 1 << 19
	if _, err := c.create(ctx, c.object("big").withData("k", strings.Repeat("x", size))); err != nil {
		return err
	}
	copies := func(n int) []object {
		var patch []object
		for range n {
			patch = append(patch, object{"op": "copy", "from": "/data/k", "path": "/data/copied"})
		}
		return append(patch, object{"op": "remove", "path": "/data/copied"})
	}
	return s.expectAll(ctx,
		send(jsonPatch(c.item("big"), copies(5)...), code(200)),
		send(jsonPatch(c.item("big"), copies(7)...), isUnprocessable()),
	)
}
