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

// createCases are about what a create stores and answers (CR-01, CR-12 to CR-16, CR-20).
func createCases() []Case {
	return slices.Concat(
		both(Case{
			ID: "CR-01", Level: Must, Title: "a create answers 201 with the object as it is stored",
			Why:    "the client goes on from it",
			Source: "API conventions, HTTP Status codes; " + docCreateHandler,
		}, func(ctx context.Context, s *session, c collection) error {
			o := c.object("a").label("a", "b").meta("annotations", object{"c": "d"}).held()
			a, err := s.do(ctx, post(c.path(), o), code(201), kind(c.apiVersion, c.kind), field("b", "metadata", "labels", "a"))
			if err != nil {
				return err
			}
			return s.try(ctx, get(c.item("a")), code(200), sameBody(a))
		}),
		both(Case{
			ID: "CR-12", Level: Must, Title: "all that is invalid comes back in one answer, with a cause for each",
			Why:    "users mend them at once",
			Source: "API conventions, Validation",
		}, manyCauses),
		both(Case{
			ID: "CR-13", Level: Must, Title: "a create that is refused stores nothing and leaves the name free",
			Why:    "the client tries again under the same name",
			Source: "API conventions, HTTP Status codes",
		}, func(ctx context.Context, s *session, c collection) error {
			if err := s.try(ctx, post(c.path(), c.object("a").label("a", "b a d")), code(422)); err != nil {
				return err
			}
			if err := s.try(ctx, get(c.item("a")), code(404)); err != nil {
				return err
			}
			if l, err := c.list(ctx, ""); err != nil || len(l.Items) > 0 {
				return fmt.Errorf("expected an empty list behind a refused create, got %v (%w)", l.names(), err)
			}
			_, err := c.create(ctx, c.object("a"))
			return err
		}),
		both(Case{
			ID: "CR-14", Level: Must, Title: "a request that is wrong in two ways is refused for what is looked at first",
			Why:    "tests of clients and recordings depend on it",
			Source: docCreateHandler,
		}, orderOfChecks),
		both(Case{
			ID: "CR-14/put", Level: Must, Title: "a PUT that is wrong in two ways is refused for what is looked at first, which is not as with a create",
			Why:    "tests of clients and recordings depend on it",
			Source: "apiserver handlers/update.go",
		}, orderOfChecksOnPut),
		[]Case{
			onSecrets(Case{
				ID: "CR-15/typed", Level: Must, Title: "defaults are stored, and seen in the answer",
				Why:    "clients read what the server decided",
				Source: "API conventions, Defaulting; kubernetes pkg/apis/core/v1/defaults.go",
			}, typedDefaults),
			onWidgets(Case{
				ID: "CR-15/custom", Level: Must, Title: "defaults of the schema are stored, and seen in the answer",
				Why:    "clients read what the server decided",
				Source: "Extend the Kubernetes API with CustomResourceDefinitions, Defaulting",
			}, func(ctx context.Context, s *session, c collection) error {
				if err := s.try(ctx, post(c.path(), c.colored("a", "red")), code(201), field("round", "spec", "shape")); err != nil {
					return err
				}
				return s.try(ctx, get(c.item("a")), code(200), field("round", "spec", "shape"))
			}),
		},
		both(Case{
			ID: "CR-16", Level: Must, Title: "what was not sent and has no default is not in the answer",
			Why:    "an empty value is not the same as none",
			Source: "API conventions, Optional vs. Required",
		}, nothingAdded),
		both(Case{
			ID: "CR-20", Level: Must, Title: "of creates of one name that meet, one succeeds and the others are AlreadyExists",
			Why:    "locks are built on it",
			Source: docIdempotent,
		}, createsMeet),
	)
}

// typedDefaults looks at the type of a Secret. A server that gives it none may have no defaults of built-in types at all, as one that is
// made of the API-server libraries alone; the Pod template of a ReplicaSet tells. Half of the defaults are none of that.
func typedDefaults(ctx context.Context, s *session, c collection) error {
	opaque := field("Opaque", "type")
	a, err := s.do(ctx, post(c.path(), c.object("a")), code(201))
	if err != nil {
		return err
	}
	if err := a.meets(holds(nil, "type")); err == nil {
		return s.undefaulted(ctx, a.meets(opaque))
	}
	if err := a.meets(opaque); err != nil {
		return err
	}
	return s.all(ctx,
		ask(get(c.item("a")), code(200), opaque),
		ask(put(c.item("a"), c.object("a").label("app", "x")), code(200), opaque),
		ask(get(c.path()), code(200), lists([]string{"Opaque"}, "type", "items")),
	)
}

// undefaulted skips the case on a server that fills in nothing of a built-in type, and is the failure on another.
func (s *session) undefaulted(ctx context.Context, failure error) error {
	c, err := s.replicaSets(ctx)
	if err != nil {
		return err
	}
	set := replicaSet(c, "a", object{"containers": []object{container("c")}})
	a, err := s.do(ctx, c.trial(set), code(201))
	if err != nil {
		return err
	}
	if a.meets(holds(nil, "spec", "template", "spec", "restartPolicy")) == nil {
		return s.skipf("the server has no defaults for built-in types: it fills in neither the type of a Secret nor the restartPolicy of a Pod template")
	}
	return failure
}

func manyCauses(ctx context.Context, s *session, c collection) error {
	o := c.object("Bad_Name").label("bad key!", "bad value!").meta("annotations", object{"bad key!": ""}).meta("ownerReferences",
		[]object{ownerRef("1").top("kind", "").top("name", "")})
	return s.try(ctx, post(c.path(), o), refusal{
		code: 422, reason: metav1.StatusReasonInvalid, details: &metav1.StatusDetails{Name: "Bad_Name", Group: c.group, Kind: c.kind},
		says: c.qualifiedKind() + ` "Bad_Name" is invalid: [metadata.name: Invalid value: "Bad_Name"`,
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

// orderOfChecks sends requests with two mistakes each, which are looked at one after the other.
func orderOfChecks(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	elsewhere := c.object("Bad_Name").meta("namespace", "elsewhere")
	return refusedAs(ctx, s, []doublyWrong{
		{asText(post(c.path(), truncated)).as("application/nonsense"), refusal{code: 406, reason: metav1.StatusReasonNotAcceptable}.check},
		{asText(post(c.path(), tooLarge())), s.unsupported()},
		{post(c.path()+badOptions, tooLarge()), entityTooLarge.check},
		{post(c.path()+badOptions, truncated), invalidOptions("CreateOptions")},
		{post(c.path(), elsewhere), badRequest("the namespace of the provided object does not match the namespace sent on the request")},
		{post(c.path(), c.object("a").label("a", "b a d")), c.invalid("a", metav1.CauseTypeFieldValueInvalid, "metadata.labels", badLabelValue)},
	})
}

// orderOfChecksOnPut is orderOfChecks for updates.
func orderOfChecksOnPut(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	misplaced := c.object("b").meta("namespace", "elsewhere")
	return refusedAs(ctx, s, []doublyWrong{
		{asText(put(c.item("a"), tooLarge())).as("application/nonsense"), refusal{code: 406, reason: metav1.StatusReasonNotAcceptable}.check},
		{asText(put(c.item("a")+badOptions, tooLarge())), entityTooLarge.check},
		{asText(put(c.item("a")+badOptions, truncated)), invalidOptions("UpdateOptions")},
		{asText(put(c.item("a"), truncated)), s.unsupported()},
		{put(c.item("a"), misplaced), badRequest("the namespace of the provided object does not match the namespace sent on the request")},
		{put(c.item("a"), c.object("b").label("a", "b a d")), badRequest("the name of the object (b) does not match the name on the URL (a)")},
		{put(c.item("a"), c.object("a").meta("resourceVersion", "5").label("a", "b a d")), modified(c, "a")},
	})
}

// doublyWrong is a request with two mistakes, and how it is refused for one of them.
type doublyWrong struct {
	call
	want expectation
}

func refusedAs(ctx context.Context, s *session, requests []doublyWrong) error {
	for _, one := range requests {
		if err := s.try(ctx, one.call, one.want); err != nil {
			return err
		}
	}
	return nil
}

// The mistakes.
const (
	truncated  = `{"kind":`
	badOptions = "?dryRun=maybe"
)

// asText sends the body as text, which no server takes for an object.
func asText(c call) call {
	c.contentType = "text/plain"
	return c
}

// invalidOptions is how the query is refused for itself.
func invalidOptions(kind string) expectation {
	return refusal{code: 422, reason: metav1.StatusReasonInvalid, details: &metav1.StatusDetails{Group: metav1.GroupName, Kind: kind}}.check
}

// nothingAdded creates an object that has nothing but a name. Secrets have their type by default.
func nothingAdded(ctx context.Context, s *session, c collection) error {
	a, err := s.do(ctx, post(c.path(), c.object("a")), code(201))
	if err != nil {
		return err
	}
	var o, m map[string]json.RawMessage
	if err := a.decode(&o); err != nil {
		return err
	}
	if err := json.Unmarshal(o["metadata"], &m); err != nil {
		return a.errorf("the metadata: %w", err)
	}
	for name := range o {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "type"}, name) {
			return a.errorf("expected no field %s, which was not sent", name)
		}
	}
	for name := range m {
		made := []string{"creationTimestamp", "generation", "managedFields", "name", "namespace", "resourceVersion", "uid"}
		if !slices.Contains(made, name) {
			return a.errorf("expected no field %s in the metadata, which was not sent", name)
		}
	}
	return nil
}

func createsMeet(ctx context.Context, s *session, c collection) error {
	var calls []call
	for i := range writers {
		calls = append(calls, post(c.path(), c.object("a").label("writer", fmt.Sprint(i))))
	}
	answers, err := s.atOnce(ctx, calls)
	if err != nil {
		return err
	}
	winner, err := onlyOne(answers, code(http.StatusCreated), alreadyExists(c, "a", "").check)
	if err != nil {
		return err
	}
	return s.try(ctx, get(c.item("a")), code(200), sameBody(winner))
}
