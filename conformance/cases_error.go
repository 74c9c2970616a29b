package conformance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// errorCases are about the Status that a request is refused with (ST).
func errorCases() []Case {
	const conventions = "Kubernetes API conventions, Error responses; apimachinery pkg/api/errors"
	about := func(id string, title, why string, check collectionCheck) Case {
		return onSecrets(Case{ID: id, Level: Must, Title: title, Why: why, Source: conventions}, check)
	}
	return []Case{
		about("ST-01", "an error is a v1 Status with nothing but its own fields, and the code of the answer", "clients decode every answer that is not 2xx as one", errorHasItsForm),
		about("ST-02", "NotFound is 404, AlreadyExists and Conflict 409, Invalid 422, BadRequest 400", "controllers choose by the reason what to do next", reasonsHaveTheirCodes),
		about("ST-03", "MethodNotAllowed is 405, NotAcceptable 406, RequestEntityTooLarge 413, UnsupportedMediaType 415", "clients tell by it that to try again is in vain",
			func(ctx context.Context, s *session, c collection) error {
				return s.all(ctx,
					ask(put(c.path(), object{}), refusal{code: 405, reason: metav1.StatusReasonMethodNotAllowed}.check),
					ask(get(c.path()).as("application/xml"), refusal{code: 406, reason: metav1.StatusReasonNotAcceptable, says: "application/json"}.check),
					ask(post(c.path(), strings.Repeat(" ", 3<<20+1)), refusal{code: 413, reason: metav1.StatusReasonRequestEntityTooLarge, says: "limit is 3145728"}.check),
					ask(call{method: "POST", path: c.path(), body: "x", contentType: "application/xml"}, refusal{code: 415, reason: metav1.StatusReasonUnsupportedMediaType, says: "application/json"}.check),
				)
			}),
		about("ST-12", "the details of an error about an object name its resource, those of an invalid one its kind", "kubectl and controllers print them, and tell by them what was not found",
			errorNamesItsObject),
		about("ST-13", "an invalid object has a cause for each field", "forms and kubectl show the field beside the message", func(ctx context.Context, s *session, c collection) error {
			return s.try(ctx, post(c.path(), c.object("a").label("-", "")), c.invalid("a", metav1.CauseTypeFieldValueInvalid, "metadata.labels", "name part must consist of"))
		}),
		about("ST-15", "a deletion that is done is a Status with Success", "there is no object to answer with", func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			return s.try(ctx, del(c.item("a")), code(200), kind("v1", "Status"), field("Success", "status"), absent("reason"), absent("message"))
		}),
		about("ST-16", "several errors stand in brackets, one alone does not", "people read them, and tests compare them", func(ctx context.Context, s *session, c collection) error {
			one := `Secret "a" is invalid: metadata.labels: Invalid value`
			two := `Secret "a" is invalid: [metadata.labels: Invalid value`
			bad := c.object("a").label("-", "")
			if err := s.try(ctx, post(c.path(), bad), code(422), mentions(quoteJSON(one))); err != nil {
				return err
			}
			return s.try(ctx, post(c.path(), bad.meta("annotations", object{"-": ""})), code(422), mentions(quoteJSON(two)))
		}),
		{
			ID: "ST-17", Level: Should, Title: "a path outside of the API is not found as text, not as a Status", Why: "clients must live with answers that are none",
			Source: "apiserver pkg/server/handler.go", check: func(ctx context.Context, s *session) error {
				return s.try(ctx, get("/apis/absent.conformance.example.com/v1/things"), pageNotFound)
			},
		},
	}
}

// quoteJSON writes a text as it stands in the middle of JSON.
func quoteJSON(text string) string { return strings.ReplaceAll(text, `"`, `\"`) }

func errorHasItsForm(ctx context.Context, s *session, c collection) error {
	a, err := s.do(ctx, get(c.item("absent")), code(404), mediaType("application/json"), kind("v1", "Status"), field("Failure", "status"))
	if err != nil {
		return err
	}
	status := map[string]any{}
	if err := a.decode(&status); err != nil {
		return err
	}
	want := []string{"apiVersion", "code", "details", "kind", "message", "metadata", "reason", "status"}
	if got := slices.Sorted(maps.Keys(status)); !slices.Equal(got, want) {
		return a.errorf("expected the fields %v, got %v", want, got)
	}
	if fmt.Sprint(status["code"]) != "404" {
		return a.errorf("expected the code of the answer, got %v", status["code"])
	}
	if metadata, ok := status["metadata"].(map[string]any); !ok || len(metadata) > 0 {
		return a.errorf("expected empty metadata, got %v", status["metadata"])
	}
	return nil
}

func reasonsHaveTheirCodes(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	return s.all(ctx,
		ask(get(c.item("absent")), refusal{code: 404, reason: metav1.StatusReasonNotFound}.check),
		ask(post(c.path(), c.object("a")), refusal{code: 409, reason: metav1.StatusReasonAlreadyExists}.check),
		ask(put(c.item("a"), c.object("a").meta("resourceVersion", "1")), refusal{code: 409, reason: metav1.StatusReasonConflict}.check),
		ask(post(c.path(), c.object("A B")), refusal{code: 422, reason: metav1.StatusReasonInvalid}.check),
		ask(post(c.path(), "{"), refusal{code: 400, reason: metav1.StatusReasonBadRequest}.check),
	)
}

func errorNamesItsObject(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	return s.all(ctx,
		ask(get(c.item("absent")), refusal{code: 404, reason: metav1.StatusReasonNotFound, details: c.about("absent")}.check),
		ask(post(c.path(), c.object("a")), refusal{code: 409, reason: metav1.StatusReasonAlreadyExists, details: c.about("a")}.check),
		ask(put(c.item("a"), c.object("a").meta("resourceVersion", "1")), refusal{code: 409, reason: metav1.StatusReasonConflict, details: c.about("a")}.check),
		ask(post(c.path(), c.object("a b")), refusal{code: 422, reason: metav1.StatusReasonInvalid, details: &metav1.StatusDetails{Name: "a b", Kind: c.kind, Group: c.group}}.check),
	)
}
