package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docCreateHandler = "apiserver handlers/create.go"

// createCases returns the cases about the result of a create (CR-01, CR-12 to CR-16, CR-20).
func createCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "CR-01", Level: Must, Title: "a create is answered 201 with the object as stored",
			Why:    "the client continues with it",
			Source: "API conventions, HTTP Status codes; " + docCreateHandler,
		}, func(ctx context.Context, s *session, c collection) error {
			o := c.object("a").withLabel("a", "b").withMeta("annotations", object{"c": "d"}).withFinalizer()
			r, err := s.do(ctx, post(c.path(), o), code(201), kind(c.apiVersion, c.kind), field("b", "metadata", "labels", "a"))
			if err != nil {
				return err
			}
			return s.expect(ctx, get(c.item("a")), code(200), hasSameBody(r))
		}),
		onBoth(Case{
			ID: "CR-12", Level: Must, Title: "all validation errors are in one response, with a cause for each",
			Why:    "users can fix them at once",
			Source: "API conventions, Validation",
		}, checkManyCauses),
		onBoth(Case{
			ID: "CR-13", Level: Must, Title: "a rejected create stores nothing and leaves the name available",
			Why:    "the client retries with the same name",
			Source: "API conventions, HTTP Status codes",
		}, func(ctx context.Context, s *session, c collection) error {
			if err := s.expect(ctx, post(c.path(), c.object("a").withLabel("a", "b a d")), code(422)); err != nil {
				return err
			}
			if err := s.expect(ctx, get(c.item("a")), code(404)); err != nil {
				return err
			}
			l, err := c.list(ctx, "")
			if err != nil {
				return err
			}
			if len(l.Items) > 0 {
				return fmt.Errorf("expected an empty list after a rejected create, got %v", l.names())
			}
			_, err = c.create(ctx, c.object("a"))
			return err
		}),
		onBoth(Case{
			ID: "CR-14", Level: Must, Title: "a request with two errors is rejected for the one that is checked first",
			Why:    "client tests and recordings depend on the order",
			Source: docCreateHandler,
		}, checkErrorOrder),
		onBoth(Case{
			ID: "CR-14/put", Level: Must, Title: "a PUT with two errors is rejected for the one that is checked first, in another order than a create",
			Why:    "client tests and recordings depend on the order",
			Source: "apiserver handlers/update.go",
		}, checkErrorOrderOnPut),
		[]Case{
			onSecrets(Case{
				ID: "CR-15/typed", Level: Must, Title: "defaults are stored and returned",
				Why:    "clients read the values that the server chose",
				Source: "API conventions, Defaulting; kubernetes pkg/apis/core/v1/defaults.go",
			}, checkTypedDefaults),
			onBasicCRs(Case{
				ID: "CR-15/custom", Level: Must, Title: "defaults of the schema are stored and returned",
				Why:    "clients read the values that the server chose",
				Source: "Extend the Kubernetes API with CustomResourceDefinitions, Defaulting",
			}, func(ctx context.Context, s *session, c collection) error {
				if err := s.expect(ctx, post(c.path(), c.withColor("a", "red")), code(201), field("round", "spec", "shape")); err != nil {
					return err
				}
				return s.expect(ctx, get(c.item("a")), code(200), field("round", "spec", "shape"))
			}),
		},
		onBoth(Case{
			ID: "CR-16", Level: Must, Title: "fields that were not sent and have no default are not returned",
			Why:    "an empty value differs from a missing one",
			Source: "API conventions, Optional vs. Required",
		}, checkNothingAdded),
		onBoth(Case{
			ID: "CR-20", Level: Must, Title: "of concurrent creates of one name, one succeeds and the others are AlreadyExists",
			Why:    "locks depend on it",
			Source: docIdempotent,
		}, checkConcurrentCreates),
	)
}

// checkTypedDefaults checks the type of a Secret. A server that is built from the API server
// libraries alone has no defaults of built-in types, which the Pod template of a ReplicaSet shows
// too.
func checkTypedDefaults(ctx context.Context, s *session, c collection) error {
	opaque := field("Opaque", "type")
	r, err := s.do(ctx, post(c.path(), c.object("a")), code(201))
	if err != nil {
		return err
	}
	if err := r.expect(valueAt(nil, "type")); err == nil {
		return s.skipWithoutDefaults(ctx, r.expect(opaque))
	}
	if err := r.expect(opaque); err != nil {
		return err
	}
	return s.expectAll(ctx,
		send(get(c.item("a")), code(200), opaque),
		send(put(c.item("a"), c.object("a").withLabel("app", "x")), code(200), opaque),
		send(get(c.path()), code(200), itemsHave([]string{"Opaque"}, "type", "items")),
	)
}

// skipWithoutDefaults skips the case if the server has no defaults of built-in types, and returns
// the failure otherwise.
func (s *session) skipWithoutDefaults(ctx context.Context, failure error) error {
	c, err := s.replicaSets(ctx)
	if err != nil {
		return err
	}
	set := replicaSet(c, "a", object{"containers": []object{container("c")}})
	r, err := s.do(ctx, c.dryRunCreate(set), code(201))
	if err != nil {
		return err
	}
	if r.expect(valueAt(nil, "spec", "template", "spec", "restartPolicy")) == nil {
		return s.skipf("the server has no defaults for built-in types: it sets neither the type of a Secret nor the restartPolicy of a Pod template")
	}
	return failure
}

func checkManyCauses(ctx context.Context, s *session, c collection) error {
	o := c.object("Bad_Name").withLabel("bad key!", "bad value!").withMeta("annotations", object{"bad key!": ""}).withMeta("ownerReferences",
		[]object{ownerRef("1").with("kind", "").with("name", "")})
	return s.expect(ctx, post(c.path(), o), failure{
		code: 422, reason: metav1.StatusReasonInvalid, details: &metav1.StatusDetails{Name: "Bad_Name", Group: c.group, Kind: c.kind},
		contains: c.groupKind() + ` "Bad_Name" is invalid: [metadata.name: Invalid value: "Bad_Name"`,
		causes: []metav1.StatusCause{
			{Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.name", Message: "a lowercase RFC 1123 subdomain must consist of"},
			{Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.labels", Message: badNamePart},
			{Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.labels", Message: badLabelValue},
			{Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.annotations", Message: badNamePart},
			{Type: metav1.CauseTypeFieldValueRequired, Field: "metadata.ownerReferences[0].kind", Message: "must not be empty"},
			{Type: metav1.CauseTypeFieldValueRequired, Field: "metadata.ownerReferences[0].name", Message: "must not be empty"},
		},
	}.check)
}

// checkErrorOrder sends requests with two errors each.
func checkErrorOrder(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	wrongNamespace := c.object("Bad_Name").withMeta("namespace", "elsewhere")
	return expectErrors(ctx, s, []requestWithTwoErrors{
		{withTextBody(post(c.path(), truncatedBody)).withAccept("application/nonsense"), failure{code: 406, reason: metav1.StatusReasonNotAcceptable}.check},
		{withTextBody(post(c.path(), tooLargeBody())), s.isUnsupportedBody()},
		{post(c.path()+invalidOptionsQuery, tooLargeBody()), entityTooLarge.check},
		{post(c.path()+invalidOptionsQuery, truncatedBody), isInvalidOptions("CreateOptions")},
		{post(c.path(), wrongNamespace), badRequest("the namespace of the provided object does not match the namespace sent on the request")},
		{post(c.path(), c.object("a").withLabel("a", "b a d")), c.invalid("a", metav1.CauseTypeFieldValueInvalid, "metadata.labels", badLabelValue)},
	})
}

// checkErrorOrderOnPut is like checkErrorOrder, for updates.
func checkErrorOrderOnPut(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	wrongNamespace := c.object("b").withMeta("namespace", "elsewhere")
	return expectErrors(ctx, s, []requestWithTwoErrors{
		{withTextBody(put(c.item("a"), tooLargeBody())).withAccept("application/nonsense"), failure{code: 406, reason: metav1.StatusReasonNotAcceptable}.check},
		{withTextBody(put(c.item("a")+invalidOptionsQuery, tooLargeBody())), entityTooLarge.check},
		{withTextBody(put(c.item("a")+invalidOptionsQuery, truncatedBody)), isInvalidOptions("UpdateOptions")},
		{withTextBody(put(c.item("a"), truncatedBody)), s.isUnsupportedBody()},
		{put(c.item("a"), wrongNamespace), badRequest("the namespace of the provided object does not match the namespace sent on the request")},
		{put(c.item("a"), c.object("b").withLabel("a", "b a d")), badRequest("the name of the object (b) does not match the name on the URL (a)")},
		{put(c.item("a"), c.object("a").withMeta("resourceVersion", "5").withLabel("a", "b a d")), modifiedConflict(c, "a").check},
	})
}

// requestWithTwoErrors is a request with two errors, and the expected response to one of them.
type requestWithTwoErrors struct {
	call
	want expectation
}

func expectErrors(ctx context.Context, s *session, requests []requestWithTwoErrors) error {
	for _, one := range requests {
		if err := s.expect(ctx, one.call, one.want); err != nil {
			return err
		}
	}
	return nil
}

// The errors.
const (
	truncatedBody       = `{"kind":`
	invalidOptionsQuery = "?dryRun=maybe"
)

// withTextBody sets the Content-Type to text, which is not supported.
func withTextBody(c call) call {
	c.contentType = "text/plain"
	return c
}

// isInvalidOptions expects that the query is invalid.
func isInvalidOptions(kind string) expectation {
	return failure{code: 422, reason: metav1.StatusReasonInvalid, details: &metav1.StatusDetails{Group: metav1.GroupName, Kind: kind}}.check
}

// checkNothingAdded creates an object with a name only. Secrets have a default type.
func checkNothingAdded(ctx context.Context, s *session, c collection) error {
	r, err := s.do(ctx, post(c.path(), c.object("a")), code(201))
	if err != nil {
		return err
	}
	var o, m map[string]json.RawMessage
	if err := r.decode(&o); err != nil {
		return err
	}
	if err := json.Unmarshal(o["metadata"], &m); err != nil {
		return r.errorf("the metadata: %w", err)
	}
	for name := range o {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "type"}, name) {
			return r.errorf("expected no field %s, which was not sent", name)
		}
	}
	for name := range m {
		made := []string{"creationTimestamp", "generation", "managedFields", "name", "namespace", "resourceVersion", "uid"}
		if !slices.Contains(made, name) {
			return r.errorf("expected no field %s in the metadata, which was not sent", name)
		}
	}
	return nil
}

func checkConcurrentCreates(ctx context.Context, s *session, c collection) error {
	var calls []call
	for i := range concurrentWriters {
		calls = append(calls, post(c.path(), c.object("a").withLabel("writer", fmt.Sprint(i))))
	}
	responses, err := s.doConcurrently(ctx, calls)
	if err != nil {
		return err
	}
	winner, err := expectOneWinner(responses, code(http.StatusCreated), alreadyExists(c, "a", "").check)
	if err != nil {
		return err
	}
	return s.expect(ctx, get(c.item("a")), code(200), hasSameBody(winner))
}
