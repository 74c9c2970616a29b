package conformance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// errorCases returns the cases about the Status of an error (ST).
func errorCases() []Case {
	const conventions = "Kubernetes API conventions, Error responses; apimachinery pkg/api/errors"
	about := func(id string, title, why string, check collectionCheck) Case {
		return onSecrets(Case{ID: id, Level: Must, Title: title, Why: why, Source: conventions}, check)
	}
	return []Case{
		about("ST-01", "an error is a v1 Status with only the fields of a Status, and the status code of the response", "clients decode every response that is not 2xx as a Status", checkErrorFormat),
		about("ST-02", "NotFound is 404, AlreadyExists and Conflict 409, Invalid 422, BadRequest 400", "controllers decide by the reason", checkReasonCodes),
		about("ST-03", "MethodNotAllowed is 405, NotAcceptable 406, RequestEntityTooLarge 413, UnsupportedMediaType 415", "clients know that a retry is useless",
			func(ctx context.Context, s *session, c collection) error {
				return s.expectAll(ctx,
					send(put(c.path(), object{}), failure{code: 405, reason: metav1.StatusReasonMethodNotAllowed}.check),
					send(get(c.path()).withAccept("application/xml"), failure{code: 406, reason: metav1.StatusReasonNotAcceptable, contains: "application/json"}.check),
					send(post(c.path(), strings.Repeat(" ", 3<<20+1)), failure{code: 413, reason: metav1.StatusReasonRequestEntityTooLarge, contains: "limit is 3145728"}.check),
					send(call{method: "POST", path: c.path(), body: "x", contentType: "application/xml"}, failure{code: 415, reason: metav1.StatusReasonUnsupportedMediaType, contains: "application/json"}.check),
				)
			}),
		about("ST-12", "the details of an error name the resource of the object, those of Invalid its kind", "kubectl and controllers print them, and check what was not found",
			checkErrorDetails),
		about("ST-13", "an invalid object has a cause for each field", "forms and kubectl show the message next to the field", func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, post(c.path(), c.object("a").withLabel("-", "")), c.invalid("a", metav1.CauseTypeFieldValueInvalid, "metadata.labels", "name part must consist of"))
		}),
		about("ST-15", "a completed deletion is a Status with Success", "there is no object to return", func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			return s.expect(ctx, del(c.item("a")), code(200), kind("v1", "Status"), field("Success", "status"), noField("reason"), noField("message"))
		}),
		about("ST-16", "several validation errors are in brackets, a single one is not", "users read them, and tests compare them", func(ctx context.Context, s *session, c collection) error {
			one := `Secret "a" is invalid: metadata.labels: Invalid value`
			two := `Secret "a" is invalid: [metadata.labels: Invalid value`
			bad := c.object("a").withLabel("-", "")
			if err := s.expect(ctx, post(c.path(), bad), code(422), bodyContains(quoteJSON(one))); err != nil {
				return err
			}
			return s.expect(ctx, post(c.path(), bad.withMeta("annotations", object{"-": ""})), code(422), bodyContains(quoteJSON(two)))
		}),
		{
			ID: "ST-17", Level: Should, Title: "a path outside of the API is answered 404 in text, not with a Status", Why: "clients must handle responses that are not a Status",
			Source: "apiserver pkg/server/handler.go", check: func(ctx context.Context, s *session) error {
				return s.expect(ctx, get("/apis/absent.conformance.example.com/v1/things"), pageNotFound)
			},
		},
	}
}

// quoteJSON escapes a text for a JSON string.
func quoteJSON(text string) string { return strings.ReplaceAll(text, `"`, `\"`) }

func checkErrorFormat(ctx context.Context, s *session, c collection) error {
	r, err := s.do(ctx, get(c.item("absent")), code(404), mediaType("application/json"), kind("v1", "Status"), field("Failure", "status"))
	if err != nil {
		return err
	}
	status := map[string]any{}
	if err := r.decode(&status); err != nil {
		return err
	}
	want := []string{"apiVersion", "code", "details", "kind", "message", "metadata", "reason", "status"}
	if got := slices.Sorted(maps.Keys(status)); !slices.Equal(got, want) {
		return r.errorf("expected the fields %v, got %v", want, got)
	}
	if fmt.Sprint(status["code"]) != "404" {
		return r.errorf("expected the code of the response, got %v", status["code"])
	}
	if metadata, ok := status["metadata"].(map[string]any); !ok || len(metadata) > 0 {
		return r.errorf("expected empty metadata, got %v", status["metadata"])
	}
	return nil
}

func checkReasonCodes(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	return s.expectAll(ctx,
		send(get(c.item("absent")), failure{code: 404, reason: metav1.StatusReasonNotFound}.check),
		send(post(c.path(), c.object("a")), failure{code: 409, reason: metav1.StatusReasonAlreadyExists}.check),
		send(put(c.item("a"), c.object("a").withMeta("resourceVersion", "1")), failure{code: 409, reason: metav1.StatusReasonConflict}.check),
		send(post(c.path(), c.object("A B")), failure{code: 422, reason: metav1.StatusReasonInvalid}.check),
		send(post(c.path(), "{"), failure{code: 400, reason: metav1.StatusReasonBadRequest}.check),
	)
}

func checkErrorDetails(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	return s.expectAll(ctx,
		send(get(c.item("absent")), failure{code: 404, reason: metav1.StatusReasonNotFound, details: c.statusDetails("absent")}.check),
		send(post(c.path(), c.object("a")), failure{code: 409, reason: metav1.StatusReasonAlreadyExists, details: c.statusDetails("a")}.check),
		send(put(c.item("a"), c.object("a").withMeta("resourceVersion", "1")), failure{code: 409, reason: metav1.StatusReasonConflict, details: c.statusDetails("a")}.check),
		send(post(c.path(), c.object("a b")), failure{code: 422, reason: metav1.StatusReasonInvalid, details: &metav1.StatusDetails{Name: "a b", Kind: c.kind, Group: c.group}}.check),
	)
}
