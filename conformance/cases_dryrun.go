package conformance

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docDryRun = "Kubernetes API Concepts, Dry-run"

// dryRunCases are about requests that only try (DR).
func dryRunCases() []Case {
	return slices.Concat(
		onMap(Case{
			ID: "DR-01", Level: Must, Title: "every method that writes can be tried with dryRun=All, given once or more often",
			Why:    "kubectl --dry-run=server and the checks of pipelines live on it",
			Source: docDryRun,
		}, dryEverything),
		onMap(Case{
			ID: "DR-02", Level: Must, Title: "another dryRun is refused",
			Why:    "a client that only wants to try must not write",
			Source: docDryRun,
		}, dryRunRefused("bogus", `Unsupported value: ["bogus"]: supported values: "All"`)),
		onMap(Case{
			ID: "DR-02/case", Level: Must, Title: "dryRun=all is refused",
			Why:    "a client that only wants to try must not write",
			Source: docDryRun,
		}, dryRunRefused("all", `Unsupported value: ["all"]: supported values: "All"`)),
		onMap(Case{
			ID: "DR-03", Level: Must, Title: "an empty dryRun is refused",
			Why:    "a client that only wants to try must not write",
			Source: "apimachinery apis/meta/v1/validation",
		}, dryRunRefused("", `Unsupported value: [""]: supported values: "All"`)),
		onMap(Case{
			ID: "DR-04", Level: Must, Title: "what was only tried is not stored, and no watch tells of it",
			Why:    "a dry run has no side effects",
			Source: docDryRun,
		}, dryRunLeavesNothing),
		onMap(Case{
			ID: "DR-05", Level: Must, Title: "what was only tried is answered as if it had been done, with what the server generates",
			Why:    "the client sees what it would get",
			Source: docDryRun,
		}, dryRunAnswers),
		onMap(Case{
			ID: "DR-06", Level: Must, Title: "what would be refused is refused when tried",
			Why:    "finding that out is what a dry run is for",
			Source: docDryRun,
		}, dryRunRefuses),
		onMap(Case{
			ID: "DR-10", Level: Must, Title: "a delete that was only tried is answered as one that worked, and the object stays",
			Why:    "a dry run has no side effects",
			Source: docDryRun,
		}, dryRunDelete),
		[]Case{{
			ID: "DR-09", Level: Must, Title: "a connection cannot be tried",
			Why:    "what goes through it has effects that the server does not see",
			Source: "apiserver handlers/rest.go", check: dryRunConnect,
		}},
	)
}

// dry makes a request one that only tries.
func dry(c call) call { return c.query("dryRun=All") }

func dryEverything(ctx context.Context, s *session, c collection) error {
	before, err := s.object(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	stays := ask(get(c.item("a")), code(200), unchanged(before), holds("1", "data", "k"))
	inBody := del(c.item("a"))
	inBody.body = object{"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": []string{"All"}}
	return s.all(ctx,
		ask(dry(post(c.path(), c.object("b"))), code(201)),
		ask(dry(dry(post(c.path(), c.object("b")))), code(201)),
		ask(get(c.item("b")), code(404)),
		ask(dry(put(c.item("a"), c.object("a").meta("resourceVersion", before.ResourceVersion).data("k", "2"))), code(200), holds("2", "data", "k")), stays,
		ask(dry(dry(mergePatch(c.item("a"), object{"data": object{"k": "3"}}))), code(200), holds("3", "data", "k")), stays,
		ask(dry(jsonPatch(c.item("a"), object{"op": "remove", "path": "/data"})), code(200), holds(nil, "data")), stays,
		ask(dry(applyAs("m", c.item("a"), c.object("a").data("new", "4"))), code(200), holds("4", "data", "new")), stays,
		ask(dry(dry(del(c.item("a")))), code(200)), stays,
		ask(inBody, code(200)), stays,
		ask(dry(del(c.path())), code(200)), stays,
	)
}

func dryRunRefused(value, says string) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		before, err := s.object(ctx, get(c.item("a")), code(200))
		if err != nil {
			return err
		}
		refused := func(request call, options string) exchange {
			want := invalidOption(options, "dryRun", metav1.CauseTypeFieldValueNotSupported, says)
			return ask(request.query("dryRun="+value), want.check)
		}
		return s.all(ctx,
			refused(post(c.path(), c.object("b")), "CreateOptions"),
			ask(get(c.item("b")), code(404)),
			refused(put(c.item("a"), c.object("a").meta("resourceVersion", before.ResourceVersion)), "UpdateOptions"),
			refused(mergePatch(c.item("a"), object{"data": object{"k": "2"}}), "PatchOptions"),
			refused(applyAs("m", c.item("a"), c.object("a").data("new", "1")), "PatchOptions"),
			refused(del(c.item("a")), "DeleteOptions"),
			refused(del(c.path()), "DeleteOptions"),
			ask(get(c.item("a")), code(200), unchanged(before)),
		)
	}
}

func dryRunLeavesNothing(ctx context.Context, s *session, c collection) error {
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	w, err := c.watch(ctx, "?watch=true&resourceVersion="+l.Metadata.ResourceVersion)
	if err != nil {
		return err
	}
	defer w.close()
	if err := dryEverything(ctx, s, c); err != nil {
		return err
	}
	last, err := c.change(ctx, "a", "1")
	if err != nil {
		return err
	}
	for {
		e, err := w.next()
		if err != nil {
			return err
		}
		if e.meta.Name == rootCertificate {
			continue
		}
		if e.Type != "MODIFIED" || e.meta.Name != "a" || e.meta.ResourceVersion != last.ResourceVersion {
			return w.errorf("expected MODIFIED a@%s and nothing before, got %v", last.ResourceVersion, e)
		}
		return nil
	}
}

// rootCertificate is the ConfigMap that a controller puts into every namespace.
const rootCertificate = "kube-root-ca.crt"

func dryRunAnswers(ctx context.Context, s *session, c collection) error {
	generated := func(a *answer) error {
		var o metav1.PartialObjectMetadata
		if err := a.decode(&o); err != nil {
			return err
		}
		if o.UID == "" || o.CreationTimestamp.IsZero() || o.Name == "" || o.ResourceVersion != "" {
			return fmt.Errorf("expected a name, a uid and a creationTimestamp, but no resourceVersion, got %q %q %v %q",
				o.Name, o.UID, o.CreationTimestamp, o.ResourceVersion)
		}
		return nil
	}
	before, err := s.object(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	return s.all(ctx,
		ask(dry(post(c.path(), c.object("b").data("k", "1"))), code(201), kind(c.apiVersion, c.kind), generated, holds("1", "data", "k")),
		ask(dry(post(c.path(), c.object("").meta("generateName", "base-"))), code(201), generated, field("base-", "metadata", "generateName")),
		ask(dry(applyAs("m", c.item("b"), c.object("b"))), code(201), generated),
		ask(dry(mergePatch(c.item("a"), object{"data": object{"k": "2"}})), code(200), kind(c.apiVersion, c.kind),
			unchanged(before), holds("2", "data", "k")),
	)
}

func dryRunRefuses(ctx context.Context, s *session, c collection) error {
	before, err := s.object(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	if _, err := c.change(ctx, "a", "1"); err != nil {
		return err
	}
	modified := refusal{code: 409, reason: metav1.StatusReasonConflict, details: c.about("a"), says: "the object has been modified"}
	bad := c.invalidField("b")
	bad.says = "metadata.labels: Invalid value: "
	return s.all(ctx,
		ask(dry(post(c.path(), c.object("a"))), alreadyExists(c, "a", "").check),
		ask(dry(post(c.path(), c.object("b").label("l", "not a value"))), bad.check),
		ask(dry(put(c.item("a"), c.object("a").meta("resourceVersion", before.ResourceVersion))), modified.check),
		ask(dry(mergePatch(c.item("a"), object{"metadata": object{"resourceVersion": before.ResourceVersion}})), modified.check),
		ask(dry(mergePatch(c.item("b"), object{})), notFound(c, "b").check),
		ask(dry(del(c.item("b"))), notFound(c, "b").check),
	)
}

func dryRunDelete(ctx context.Context, s *session, c collection) error {
	a, err := s.do(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	var before metav1.PartialObjectMetadata
	if err := a.decode(&before); err != nil {
		return err
	}
	stays := ask(get(c.item("a")), code(200), unchanged(before), holds(nil, "metadata", "deletionTimestamp"))
	listed := func(a *answer) error {
		l := objectList{from: a}
		if err := a.decode(&l); err != nil {
			return err
		}
		l.Items = slices.DeleteFunc(l.Items, func(o metav1.PartialObjectMetadata) bool { return o.Name == rootCertificate })
		return l.has("a")
	}
	otherUID := dry(del(c.item("a")))
	otherUID.body = object{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": object{"uid": "another"}}
	return s.all(ctx,
		ask(dry(del(c.item("a"))), code(200), kind("v1", "Status"), holds("Success", "status"), holds("a", "details", "name"),
			holds(c.resource, "details", "kind"), holds(string(before.UID), "details", "uid")), stays,
		ask(dry(del(c.path())), code(200), kind(c.apiVersion, c.kind+"List"), listed), stays,
		ask(otherUID, code(http.StatusConflict)), stays,
	)
}

// dryRunConnect tries a proxied connection to a Service that is not there: the parameter is looked at first.
func dryRunConnect(ctx context.Context, s *session) error {
	if err := s.needs(ctx, "v1", "services/proxy"); err != nil {
		return err
	}
	namespace, err := s.namespace(ctx)
	if err != nil {
		return err
	}
	return s.try(ctx, dry(get("/api/v1/namespaces/"+namespace+"/services/none/proxy")), badRequest("dryRun is not supported"))
}
