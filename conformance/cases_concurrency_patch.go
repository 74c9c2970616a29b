package conformance

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docPatchHandler = "apiserver handlers/patch.go"

// concurrentWriters is the number of concurrent writes in cases about concurrency.
const concurrentWriters = 8

// concurrencyPatchCases returns the cases about patches, deletions and concurrent writers (OC-08 to
// OC-14, OC-18 to OC-20).
func concurrencyPatchCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "OC-08", Level: Must, Title: "concurrent patches without a resourceVersion all succeed, and none is lost",
			Why:    "patches do not depend on the version of the object",
			Source: "Kubernetes API Concepts, Patch or apply; " + docPatchHandler,
		}, checkConcurrentPatches),
		onBoth(Case{
			ID: "OC-09", Level: Must, Title: "a patch with another resourceVersion than the current one is a Conflict",
			Why:    "the resourceVersion is a precondition",
			Source: docPatchHandler,
		}, func(ctx context.Context, s *session, c collection) error {
			old, err := createAndChange(ctx, c)
			if err != nil {
				return err
			}
			patch := object{"metadata": object{"resourceVersion": old, "labels": object{"a": "b"}}}
			return s.expect(ctx, mergePatch(c.item("a"), patch), modifiedConflict(c, "a").check)
		}),
		onBoth(Case{
			ID: "OC-10", Level: Must, Title: "an apply with another resourceVersion than the current one is a Conflict",
			Why:    "the resourceVersion is a precondition",
			Source: docPatchHandler,
		}, func(ctx context.Context, s *session, c collection) error {
			old, err := createAndChange(ctx, c)
			if err != nil {
				return err
			}
			return s.expect(ctx, apply(c.item("a"), c.object("a").withMeta("resourceVersion", old).withLabel("a", "b")), modifiedConflict(c, "a").check)
		}),
		onBoth(Case{
			ID: "OC-11", Level: Must, Title: "an apply with a resourceVersion creates an object that does not exist",
			Why:    "kube-apiserver ignores the resourceVersion in this case",
			Source: docPatchHandler,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, apply(c.item("a"), c.object("a").withMeta("resourceVersion", "5")), code(201), fieldNot("5", "metadata", "resourceVersion"))
		}),
		onBoth(Case{
			ID: "OC-12", Level: Must, Title: "an apply with the uid of an object that does not exist is a Conflict",
			Why:    "the client refers to an object that was deleted",
			Source: docPatchHandler,
		}, func(ctx context.Context, s *session, c collection) error {
			err := s.expect(ctx, apply(c.item("a"), c.object("a").withMeta("uid", otherUID)), failure{
				code: 409, reason: metav1.StatusReasonConflict, details: c.statusDetails("a"),
				contains: "uid mismatch: the provided object specified uid " + otherUID + ", and no existing object was found",
			}.check)
			if err != nil {
				return err
			}
			return s.expect(ctx, get(c.item("a")), code(404))
		}),
		onStatus(Case{
			ID: "OC-13", Level: Must, Title: "an object and its status share one resourceVersion",
			Why:    "a controller that has read an old status must not overwrite the object",
			Source: docConcurrency,
		}, checkStatusSharesVersion),
		onBoth(Case{
			ID: "OC-14", Level: Must, Title: "of concurrent PUTs of one state, one succeeds and the others are Conflicts",
			Why:    "locks and leader election depend on it",
			Source: docConcurrency,
		}, checkConcurrentPuts),
		onBoth(Case{
			ID: "OC-18", Level: Should, Title: "a write that changes only the times in managedFields is a no-op",
			Why:    "controllers that repeat their applies would otherwise trigger each other forever",
			Source: "apiserver handlers/fieldmanager; apimachinery managedfields",
		}, checkRepeatedWrites),
		onBoth(Case{
			ID: "OC-19", Level: Must, Title: "a Conflict names the object, its group and its resource",
			Why:    "clients log and match them",
			Source: "apimachinery errors.NewConflict",
		}, checkConflictDetails),
		onBoth(Case{
			ID: "OC-20", Level: Must, Title: "DELETE with the uid or resourceVersion of another state is a Conflict, which names the kind",
			Why:    "a client deletes only the state that it has read",
			Source: "apiserver registry/rest/delete.go",
		}, checkDeletePreconditions),
	)
}

func checkConcurrentPatches(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	var calls []call
	for i := range concurrentWriters {
		key := fmt.Sprintf("writer-%d", i)
		calls = append(calls, mergePatch(c.item("a"), object{"metadata": object{"annotations": object{key: "was here"}}}))
	}
	responses, err := s.doConcurrently(ctx, calls)
	if err != nil {
		return err
	}
	for _, r := range responses {
		if err := r.expect(code(200)); err != nil {
			return err
		}
	}
	o, err := s.doObject(ctx, get(c.item("a")), code(200))
	if err == nil && len(o.Annotations) != concurrentWriters {
		err = fmt.Errorf("GET %s: expected the annotations of %d writers, got %v", c.item("a"), concurrentWriters, o.Annotations)
	}
	return err
}

func checkStatusSharesVersion(ctx context.Context, s *session, c collection) error {
	before, err := c.create(ctx, c.withColor("a", "red"))
	if err != nil {
		return err
	}
	after, err := s.doObject(ctx, c.statusPatch("a"), code(200), fieldNot(before.ResourceVersion, "metadata", "resourceVersion"))
	if err != nil {
		return err
	}
	if err := expectNotOlder(after.ResourceVersion, before.ResourceVersion); err != nil {
		return err
	}
	stale := func() object { return c.withColor("a", "blue").withMeta("resourceVersion", before.ResourceVersion) }
	if err := s.expect(ctx, put(c.item("a"), stale()), modifiedConflict(c, "a").check); err != nil {
		return err
	}
	return s.expect(ctx, put(c.item("a")+"/status", stale()), modifiedConflict(c, "a").check)
}

func checkConcurrentPuts(ctx context.Context, s *session, c collection) error {
	o, err := c.create(ctx, c.object("a"))
	if err != nil {
		return err
	}
	var calls []call
	for i := range concurrentWriters {
		calls = append(calls, put(c.item("a"), c.object("a").withMeta("resourceVersion", o.ResourceVersion).withLabel("writer", fmt.Sprint(i))))
	}
	responses, err := s.doConcurrently(ctx, calls)
	if err != nil {
		return err
	}
	winner, err := expectOneWinner(responses, code(http.StatusOK), modifiedConflict(c, "a").check)
	if err != nil {
		return err
	}
	return s.expect(ctx, get(c.item("a")), code(200), hasSameBody(winner))
}

// expectOneWinner expects that one response meets won and all others meet lost, and returns the
// first.
func expectOneWinner(responses []*response, won, lost expectation) (*response, error) {
	var winner *response
	for _, r := range responses {
		if r.code >= 400 {
			if err := r.expect(lost); err != nil {
				return nil, err
			}
			continue
		}
		if err := r.expect(won); err != nil {
			return nil, err
		}
		if winner != nil {
			return nil, r.errorf("expected one of %d requests to succeed, got a second", len(responses))
		}
		winner = r
	}
	if winner == nil {
		return nil, responses[0].errorf("expected one of %d requests to succeed, got none", len(responses))
	}
	return winner, nil
}

// checkRepeatedWrites repeats an apply and a patch in a later second, because timestamps have
// seconds.
func checkRepeatedWrites(ctx context.Context, s *session, c collection) error {
	applied := apply(c.item("a"), c.object("a").withLabel("a", "b"))
	if err := s.expect(ctx, applied, code(201)); err != nil {
		return err
	}
	patched := mergePatch(c.item("a"), object{"metadata": object{"labels": object{"c": "d"}}})
	o, err := s.doObject(ctx, patched, code(200))
	if err != nil {
		return err
	}
	if err := waitForNextSecond(ctx, s, c); err != nil {
		return err
	}
	for _, again := range []call{applied, patched} {
		if err := s.expect(ctx, again, code(200), atResourceVersion(o.ResourceVersion)); err != nil {
			return err
		}
		if err := s.expect(ctx, get(c.item("a")), code(200), atResourceVersion(o.ResourceVersion)); err != nil {
			return err
		}
	}
	return nil
}

// waitForNextSecond waits until the second of the server's clock changes. It reads the clock with
// dry runs.
func waitForNextSecond(ctx context.Context, s *session, c collection) error {
	read := func(ctx context.Context) (metav1.PartialObjectMetadata, error) {
		return s.doObject(ctx, post(c.path()+"?dryRun=All", c.object("clock")), code(201))
	}
	now, err := read(ctx)
	if err != nil {
		return err
	}
	return poll(ctx, func(ctx context.Context) error {
		then, err := read(ctx)
		if err == nil && !then.CreationTimestamp.After(now.CreationTimestamp.Time) {
			err = fmt.Errorf("expected a new creationTimestamp for a new object, got %v again", now.CreationTimestamp)
		}
		return err
	})
}

// checkConflictDetails sends a conflicting write of every kind.
func checkConflictDetails(ctx context.Context, s *session, c collection) error {
	old, err := createAndChange(ctx, c)
	if err != nil {
		return err
	}
	stale := func() object { return c.object("a").withMeta("resourceVersion", old).withLabel("a", "b") }
	conflict := failure{
		code: 409, reason: metav1.StatusReasonConflict, details: c.statusDetails("a"),
		contains: fmt.Sprintf("Operation cannot be fulfilled on %s %q: ", c.groupResource(), "a"),
	}.check
	jsonPatch := mergePatch(c.item("a"), []object{{"op": "replace", "path": "/metadata/resourceVersion", "value": old}})
	jsonPatch.contentType = "application/json-patch+json"
	for _, write := range []call{
		put(c.item("a"), stale()), put(c.item("a"), c.object("a").withMeta("uid", otherUID)),
		mergePatch(c.item("a"), object{"metadata": object{"resourceVersion": old}}),
		jsonPatch,
		apply(c.item("a"), stale()),
	} {
		if err := s.expect(ctx, write, conflict); err != nil {
			return err
		}
	}
	return nil
}

func checkDeletePreconditions(ctx context.Context, s *session, c collection) error {
	old, err := createAndChange(ctx, c)
	if err != nil {
		return err
	}
	o, err := s.doObject(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	details := c.statusDetails("a")
	details.Kind = c.kind // not the resource as in other conflicts
	for _, one := range []struct {
		precondition object
		says         string
	}{
		{object{"uid": otherUID}, fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", otherUID, o.UID)},
		{object{"resourceVersion": old}, fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", old, o.ResourceVersion)},
	} {
		deletion := del(c.item("a"))
		deletion.body = object{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": one.precondition}
		err := s.expect(ctx, deletion, failure{
			code: 409, reason: metav1.StatusReasonConflict, details: details,
			message: fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", c.groupKind(), "a", one.says),
		}.check)
		if err != nil {
			return err
		}
	}
	return s.expect(ctx, get(c.item("a")), code(200), hasUID(o.UID))
}
