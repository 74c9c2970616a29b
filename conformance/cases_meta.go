package conformance

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docKinds        = "API conventions, Types (Kinds)"
	docSystemFields = "API conventions, Metadata; apiserver registry/rest/create.go, update.go and meta.go"
)

// metaCases returns the cases about metadata that the server sets (MD-01 to MD-13, MD-24, MD-31).
func metaCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "MD-01", Level: Must, Title: "every returned object has kind and apiVersion",
			Why:    "clients decode by them",
			Source: docKinds,
		}, func(ctx context.Context, s *session, c collection) error {
			return expectEveryResponse(ctx, s, c, c.object("a"), kind(c.apiVersion, c.kind))
		}),
		onBoth(Case{
			ID: "MD-02", Level: Must, Title: "every object has a unique UUID as its uid",
			Why:    "caches and owner references identify objects by it",
			Source: docMetadata,
		}, checkUniqueUIDs),
		onBoth(Case{
			ID: "MD-03", Level: Must, Title: "the uid of a create request is replaced",
			Why:    "a restored backup must not have the uid of the old object",
			Source: docSystemFields,
		}, func(ctx context.Context, s *session, c collection) error {
			const sent = "00000000-1111-2222-3333-444444444444"
			return s.expect(ctx, post(c.path(), c.object("a").withMeta("uid", sent)), code(201), matchesPattern(uuidPattern, "metadata", "uid"),
				fieldNot(sent, "metadata", "uid"))
		}),
		onBoth(Case{
			ID: "MD-04", Level: Must, Title: "the uid of an object never changes, and a new object of the same name has another one",
			Why:    "it distinguishes objects of the same name",
			Source: docMetadata,
		}, checkUIDOfObject),
		onBoth(Case{
			ID: "MD-05", Level: Must, Title: "a patch that changes the uid is invalid",
			Why:    "the object would be mistaken for another",
			Source: "apimachinery api/validation",
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			patch := object{"metadata": object{"uid": "00000000-1111-2222-3333-444444444444"}}
			return s.expect(ctx, mergePatch(c.item("a"), patch), c.invalid("a", metav1.CauseTypeFieldValueInvalid, "metadata.uid", "field is immutable"))
		}),
		onBoth(Case{
			ID: "MD-06", Level: Must, Title: "creationTimestamp is the time of the create on the server, whatever was sent",
			Why:    "ages are computed from it",
			Source: docSystemFields,
		}, checkCreationTimestamp),
		onBoth(Case{
			ID: "MD-07", Level: Must, Title: "an update that changes or omits creationTimestamp keeps the stored value",
			Why:    "manifests do not contain it",
			Source: docSystemFields,
		}, checkCreationTimestampKept),
		onBoth(Case{
			ID: "MD-08", Level: Must, Title: "timestamps are RFC 3339 in UTC, in whole seconds",
			Why:    "clients in other languages parse them",
			Source: "API conventions, Serialization Format",
		}, checkTimestampFormat),
		onBoth(Case{
			ID: "MD-09", Level: Must, Title: "deletionTimestamp and the grace period of a create request are ignored, and not in managedFields",
			Why:    "an object that was read while terminating could not be created again",
			Source: docSystemFields,
		}, func(ctx context.Context, s *session, c collection) error {
			terminating := c.object("a").withFinalizer().withMeta("deletionTimestamp", "2001-02-03T04:05:06Z").withMeta("deletionGracePeriodSeconds", 30)
			r, err := s.do(ctx, post(c.path(), terminating), code(201), isNotTerminating)
			if err != nil {
				return err
			}
			if strings.Contains(string(r.body), "f:deletion") {
				return r.errorf("expected managedFields without the fields that were dropped")
			}
			return s.expect(ctx, get(c.item("a")), code(200), isNotTerminating)
		}),
		onBoth(Case{
			ID: "MD-10", Level: Must, Title: "an update can neither remove nor change deletionTimestamp",
			Why:    "a deletion cannot be undone",
			Source: docSystemFields,
		}, checkDeletionTimestampKept),
		onBoth(Case{
			ID: "MD-31", Level: Must, Title: "an update cannot set a deletionTimestamp or a grace period",
			Why:    "only DELETE starts a deletion, with its checks",
			Source: "apimachinery api/validation",
		}, checkDeletionByUpdate),
		onBoth(Case{
			ID: "MD-11", Level: Must, Title: "every returned object has a resourceVersion",
			Why:    "conditional writes require it",
			Source: docMetadata,
		}, func(ctx context.Context, s *session, c collection) error {
			return expectEveryResponse(ctx, s, c, c.object("a"), matchesPattern(regexp.MustCompile(`^[1-9]\d*$`), "metadata", "resourceVersion"))
		}),
		onBoth(Case{
			ID: "MD-12", Level: Must, Title: "a create with a resourceVersion is rejected",
			Why:    "the client assumes that the object exists",
			Source: "apiserver storage/etcd3/store.go",
		}, func(ctx context.Context, s *session, c collection) error {
			sent := c.object("a").withMeta("resourceVersion", "5")
			return s.expectAll(ctx,
				send(post(c.path(), sent), failure{code: 500, message: "resourceVersion should not be set on objects to be created"}.check),
				send(c.dryRunCreate(sent), code(201), atResourceVersion("5")), // only the storage rejects it
				send(get(c.item("a")), code(404)),
			)
		}),
		onBoth(Case{
			ID: "MD-13", Level: May, Title: "a create with a resourceVersion of 0 or an invalid one may succeed; the object has a real one",
			Why:    "a client must not get back an invalid value",
			Source: "apiserver storage/etcd3/store.go",
		}, checkInvalidVersionOnCreate),
		onBoth(Case{
			ID: "MD-24", Level: Must, Title: "the selfLink of a create request is not returned",
			Why:    "the field was removed in 1.20",
			Source: "Kubernetes API Concepts; apiserver registry/rest/meta.go",
		}, func(ctx context.Context, s *session, c collection) error {
			return expectEveryResponse(ctx, s, c, c.object("a").withMeta("selfLink", c.item("a")), noField("metadata", "selfLink"))
		}),
	)
}

// uuidPattern matches a uid.
var uuidPattern = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// fieldNot expects another string at a path.
func fieldNot(unwanted string, path ...string) expectation {
	return func(r *response) error {
		if field(unwanted, path...)(r) == nil {
			return fmt.Errorf("expected another %s than %q", path[len(path)-1], unwanted)
		}
		return nil
	}
}

// expectEveryResponse creates the object, reads it and writes it in all ways that return the
// object, and checks each response.
func expectEveryResponse(ctx context.Context, s *session, c collection, o object, expect ...expectation) error {
	created, err := s.doObject(ctx, post(c.path(), o), append(expect, code(201))...)
	if err != nil {
		return err
	}
	update := c.object(created.Name).withMeta("resourceVersion", created.ResourceVersion).withLabel("step", "put")
	for _, one := range []call{
		get(c.item(created.Name)),
		put(c.item(created.Name), update),
		mergePatch(c.item(created.Name), object{"metadata": object{"labels": object{"step": "patch"}}}),
		apply(c.item(created.Name), c.object(created.Name).withLabel("applied", "yes")),
	} {
		if err := s.expect(ctx, one, append(expect, code(200))...); err != nil {
			return err
		}
	}
	return nil
}

func checkUniqueUIDs(ctx context.Context, s *session, c collection) error {
	one, err := s.doObject(ctx, post(c.path(), c.object("a")), code(201), matchesPattern(uuidPattern, "metadata", "uid"))
	if err != nil {
		return err
	}
	return s.expect(ctx, post(c.path(), c.object("b")), code(201), matchesPattern(uuidPattern, "metadata", "uid"), fieldNot(string(one.UID), "metadata", "uid"))
}

func checkUIDOfObject(ctx context.Context, s *session, c collection) error {
	first, err := c.create(ctx, c.object("a"))
	if err != nil {
		return err
	}
	update := c.object("a").withMeta("resourceVersion", first.ResourceVersion).withLabel("step", "put")
	if err := s.expect(ctx, put(c.item("a"), update), code(200), hasUID(first.UID)); err != nil {
		return err
	}
	if err := s.expect(ctx, get(c.item("a")), code(200), hasUID(first.UID)); err != nil {
		return err
	}
	if err := c.delete(ctx, "a"); err != nil {
		return err
	}
	return s.expect(ctx, post(c.path(), c.object("a")), code(201), fieldNot(string(first.UID), "metadata", "uid"))
}

func checkCreationTimestamp(ctx context.Context, s *session, c collection) error {
	r, err := s.do(ctx, post(c.path(), c.object("a").withMeta("creationTimestamp", "2001-02-03T04:05:06Z")), code(201))
	if err != nil {
		return err
	}
	var o metav1.PartialObjectMetadata
	if err := r.decode(&o); err != nil {
		return err
	}
	now, err := http.ParseTime(r.header.Get("Date"))
	if err != nil { // a proxy may have removed the header; the local clock is less exact
		now = time.Now()
	}
	if off := o.CreationTimestamp.Sub(now).Abs(); off > time.Hour {
		return r.errorf("expected creationTimestamp to be about %v, got %v", now.UTC(), o.CreationTimestamp.UTC())
	}
	return s.expect(ctx, get(c.item("a")), code(200), hasCreationTimestamp(o))
}

// hasCreationTimestamp expects the creationTimestamp of an object.
func hasCreationTimestamp(o metav1.PartialObjectMetadata) expectation {
	return field(o.CreationTimestamp.UTC().Format(time.RFC3339), "metadata", "creationTimestamp")
}

func checkCreationTimestampKept(ctx context.Context, s *session, c collection) error {
	o, err := c.create(ctx, c.object("a"))
	if err != nil {
		return err
	}
	for i, sent := range []any{nil, "2001-02-03T04:05:06Z"} {
		step := fmt.Sprint(i)
		now, err := s.doObject(ctx, get(c.item("a")), code(200))
		if err != nil {
			return err
		}
		update := c.object("a").withMeta("resourceVersion", now.ResourceVersion).withMeta("creationTimestamp", sent).withLabel("put", step)
		if err := s.expect(ctx, put(c.item("a"), update), code(200), hasCreationTimestamp(o)); err != nil {
			return err
		}
		patch := object{"metadata": object{"creationTimestamp": sent, "labels": object{"patch": step}}}
		if err := s.expect(ctx, mergePatch(c.item("a"), patch), code(200), hasCreationTimestamp(o)); err != nil {
			return err
		}
	}
	return s.expect(ctx, get(c.item("a")), code(200), hasCreationTimestamp(o))
}

func checkTimestampFormat(ctx context.Context, s *session, c collection) error {
	times := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`)
	if err := s.expect(ctx, post(c.path(), c.object("a").withFinalizer().withLabel("a", "b")), code(201), matchesPattern(times, "metadata", "creationTimestamp")); err != nil {
		return err
	}
	if err := s.expect(ctx, del(c.item("a")), code(200)); err != nil {
		return err
	}
	return s.expect(ctx, get(c.item("a")), code(200), matchesPattern(times, "metadata", "creationTimestamp"), matchesPattern(times, "metadata", "deletionTimestamp"))
}

// isNotTerminating expects an object that is not terminating.
func isNotTerminating(r *response) error {
	return r.expect(noField("metadata", "deletionTimestamp"), noField("metadata", "deletionGracePeriodSeconds"))
}

func checkDeletionTimestampKept(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a").withFinalizer()); err != nil {
		return err
	}
	if err := s.expect(ctx, del(c.item("a")), code(200)); err != nil {
		return err
	}
	terminating, err := s.doObject(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	if terminating.DeletionTimestamp == nil {
		return fmt.Errorf("GET %s: expected a deletionTimestamp on a deleted object with a finalizer", c.item("a"))
	}
	hasOldTimestamp := field(terminating.DeletionTimestamp.UTC().Format(time.RFC3339), "metadata", "deletionTimestamp")
	without := c.object("a").withFinalizer().withMeta("resourceVersion", terminating.ResourceVersion)
	patch := func(to any) call { return mergePatch(c.item("a"), object{"metadata": object{"deletionTimestamp": to}}) }
	for _, write := range []call{patch(nil), put(c.item("a"), without)} {
		if err := s.expect(ctx, write, code(200), hasOldTimestamp, atResourceVersion(terminating.ResourceVersion)); err != nil {
			return err
		}
	}
	// The patch keeps the value, but makes its manager the owner of the field.
	moved, err := s.doObject(ctx, patch("2001-02-03T04:05:06Z").withFieldManager("mover"), code(200), hasOldTimestamp)
	if err != nil {
		return err
	}
	if moved.ResourceVersion == terminating.ResourceVersion {
		return fmt.Errorf("PATCH %s: expected a new resourceVersion, as the manager of deletionTimestamp is another, got %s again", c.item("a"), moved.ResourceVersion)
	}
	return nil
}

func checkDeletionByUpdate(ctx context.Context, s *session, c collection) error {
	o, err := c.create(ctx, c.object("a"))
	if err != nil {
		return err
	}
	for field, value := range sortedByKey(map[string]any{"deletionTimestamp": "2001-02-03T04:05:06Z", "deletionGracePeriodSeconds": 5}) {
		for _, write := range []call{
			put(c.item("a"), c.object("a").withMeta("resourceVersion", o.ResourceVersion).withMeta(field, value)),
			mergePatch(c.item("a"), object{"metadata": object{field: value}}),
		} {
			if err := s.expect(ctx, write, c.invalid("a", metav1.CauseTypeFieldValueInvalid, "metadata."+field, "field is immutable")); err != nil {
				return err
			}
		}
	}
	return s.expect(ctx, get(c.item("a")), code(200), isNotTerminating, atResourceVersion(o.ResourceVersion))
}

func checkInvalidVersionOnCreate(ctx context.Context, s *session, c collection) error {
	for i, sent := range []string{"0", "abc"} {
		name := fmt.Sprintf("a%d", i)
		r, err := s.do(ctx, post(c.path(), c.object(name).withMeta("resourceVersion", sent)), code(201, 400, 422, 500))
		if err != nil {
			return err
		}
		want := code(404)
		if r.code == 201 {
			if err := r.expect(fieldNot(sent, "metadata", "resourceVersion")); err != nil {
				return err
			}
			want = fieldNot(sent, "metadata", "resourceVersion")
		}
		if err := s.expect(ctx, get(c.item(name)), want); err != nil {
			return err
		}
	}
	return nil
}
