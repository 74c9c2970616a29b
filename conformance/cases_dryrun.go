package conformance

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docDryRun = "Kubernetes API Concepts, Dry-run"

// dryRunCases returns the cases about dry runs (DR).
func dryRunCases() []Case {
	return slices.Concat(
		onMap(Case{
			ID: "DR-01", Level: Must, Title: "every write method supports dryRun=All, given once or repeatedly",
			Why:    "kubectl --dry-run=server and pipelines use it",
			Source: docDryRun,
		}, checkDryRunVerbs),
		onMap(Case{
			ID: "DR-02", Level: Must, Title: "other values of dryRun are rejected",
			Why:    "a dry run must never write",
			Source: docDryRun,
		}, checkInvalidDryRun("bogus", `Unsupported value: ["bogus"]: supported values: "All"`)),
		onMap(Case{
			ID: "DR-02/case", Level: Must, Title: "dryRun=all is rejected",
			Why:    "a dry run must never write",
			Source: docDryRun,
		}, checkInvalidDryRun("all", `Unsupported value: ["all"]: supported values: "All"`)),
		onMap(Case{
			ID: "DR-03", Level: Must, Title: "an empty dryRun is rejected",
			Why:    "a dry run must never write",
			Source: "apimachinery apis/meta/v1/validation",
		}, checkInvalidDryRun("", `Unsupported value: [""]: supported values: "All"`)),
		onMap(Case{
			ID: "DR-04", Level: Must, Title: "a dry run is not stored, and sends no watch events",
			Why:    "a dry run has no side effects",
			Source: docDryRun,
		}, checkDryRunNotStored),
		onMap(Case{
			ID: "DR-05", Level: Must, Title: "a dry run returns the result of the request, with generated fields",
			Why:    "the client sees the object that would be stored",
			Source: docDryRun,
		}, checkDryRunResponse),
		onMap(Case{
			ID: "DR-06", Level: Must, Title: "a dry run of an invalid request is rejected like the request",
			Why:    "finding errors is the purpose of a dry run",
			Source: docDryRun,
		}, checkDryRunErrors),
		onMap(Case{
			ID: "DR-10", Level: Must, Title: "a dry run of DELETE is answered as a deletion, and the object stays",
			Why:    "a dry run has no side effects",
			Source: docDryRun,
		}, checkDryRunDelete),
		[]Case{{
			ID: "DR-09", Level: Must, Title: "connect requests do not support dryRun",
			Why:    "the server cannot control effects of the proxied request",
			Source: "apiserver handlers/rest.go", check: checkDryRunConnect,
		}},
	)
}

// withDryRun makes a call a dry run.
func withDryRun(c call) call { return c.withQuery("dryRun=All") }

func checkDryRunVerbs(ctx context.Context, s *session, c collection) error {
	before, err := s.doObject(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	unchanged := send(get(c.item("a")), code(200), isUnchanged(before), valueAt("1", "data", "k"))
	inBody := del(c.item("a"))
	inBody.body = object{"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": []string{"All"}}
	return s.expectAll(ctx,
		send(withDryRun(post(c.path(), c.object("b"))), code(201)),
		send(withDryRun(withDryRun(post(c.path(), c.object("b")))), code(201)),
		send(get(c.item("b")), code(404)),
		send(withDryRun(put(c.item("a"), c.object("a").withMeta("resourceVersion", before.ResourceVersion).withData("k", "2"))), code(200), valueAt("2", "data", "k")), unchanged,
		send(withDryRun(withDryRun(mergePatch(c.item("a"), object{"data": object{"k": "3"}}))), code(200), valueAt("3", "data", "k")), unchanged,
		send(withDryRun(jsonPatch(c.item("a"), object{"op": "remove", "path": "/data"})), code(200), valueAt(nil, "data")), unchanged,
		send(withDryRun(applyAs("m", c.item("a"), c.object("a").withData("new", "4"))), code(200), valueAt("4", "data", "new")), unchanged,
		send(withDryRun(withDryRun(del(c.item("a")))), code(200)), unchanged,
		send(inBody, code(200)), unchanged,
		send(withDryRun(del(c.path())), code(200)), unchanged,
	)
}

func checkInvalidDryRun(value, text string) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		before, err := s.doObject(ctx, get(c.item("a")), code(200))
		if err != nil {
			return err
		}
		rejected := func(request call, options string) exchange {
			want := invalidOption(options, "dryRun", metav1.CauseTypeFieldValueNotSupported, text)
			return send(request.withQuery("dryRun="+value), want.check)
		}
		return s.expectAll(ctx,
			rejected(post(c.path(), c.object("b")), "CreateOptions"),
			send(get(c.item("b")), code(404)),
			rejected(put(c.item("a"), c.object("a").withMeta("resourceVersion", before.ResourceVersion)), "UpdateOptions"),
			rejected(mergePatch(c.item("a"), object{"data": object{"k": "2"}}), "PatchOptions"),
			rejected(applyAs("m", c.item("a"), c.object("a").withData("new", "1")), "PatchOptions"),
			rejected(del(c.item("a")), "DeleteOptions"),
			rejected(del(c.path()), "DeleteOptions"),
			send(get(c.item("a")), code(200), isUnchanged(before)),
		)
	}
}

func checkDryRunNotStored(ctx context.Context, s *session, c collection) error {
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	w, err := c.watch(ctx, "?watch=true&resourceVersion="+l.Metadata.ResourceVersion)
	if err != nil {
		return err
	}
	defer w.close()
	if err := checkDryRunVerbs(ctx, s, c); err != nil {
		return err
	}
	last, err := c.annotate(ctx, "a", "1")
	if err != nil {
		return err
	}
	for {
		e, err := w.next()
		if err != nil {
			return err
		}
		if e.meta.Name == rootCAConfigMap {
			continue
		}
		if e.Type != "MODIFIED" || e.meta.Name != "a" || e.meta.ResourceVersion != last.ResourceVersion {
			return w.errorf("expected MODIFIED a@%s and nothing before, got %v", last.ResourceVersion, e)
		}
		return nil
	}
}

// rootCAConfigMap is a ConfigMap that a controller creates in every namespace.
const rootCAConfigMap = "kube-root-ca.crt"

func checkDryRunResponse(ctx context.Context, s *session, c collection) error {
	generated := func(r *response) error {
		var o metav1.PartialObjectMetadata
		if err := r.decode(&o); err != nil {
			return err
		}
		if o.UID == "" || o.CreationTimestamp.IsZero() || o.Name == "" || o.ResourceVersion != "" {
			return fmt.Errorf("expected a name, a uid and a creationTimestamp, but no resourceVersion, got %q %q %v %q",
				o.Name, o.UID, o.CreationTimestamp, o.ResourceVersion)
		}
		return nil
	}
	before, err := s.doObject(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	return s.expectAll(ctx,
		send(withDryRun(post(c.path(), c.object("b").withData("k", "1"))), code(201), kind(c.apiVersion, c.kind), generated, valueAt("1", "data", "k")),
		send(withDryRun(post(c.path(), c.object("").withMeta("generateName", "base-"))), code(201), generated, field("base-", "metadata", "generateName")),
		send(withDryRun(applyAs("m", c.item("b"), c.object("b"))), code(201), generated),
		send(withDryRun(mergePatch(c.item("a"), object{"data": object{"k": "2"}})), code(200), kind(c.apiVersion, c.kind),
			isUnchanged(before), valueAt("2", "data", "k")),
	)
}

func checkDryRunErrors(ctx context.Context, s *session, c collection) error {
	before, err := s.doObject(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	if _, err := c.annotate(ctx, "a", "1"); err != nil {
		return err
	}
	modified := failure{code: 409, reason: metav1.StatusReasonConflict, details: c.statusDetails("a"), contains: "the object has been modified"}
	bad := c.invalidField("b")
	bad.contains = "metadata.labels: Invalid value: "
	return s.expectAll(ctx,
		send(withDryRun(post(c.path(), c.object("a"))), alreadyExists(c, "a", "").check),
		send(withDryRun(post(c.path(), c.object("b").withLabel("l", "not a value"))), bad.check),
		send(withDryRun(put(c.item("a"), c.object("a").withMeta("resourceVersion", before.ResourceVersion))), modified.check),
		send(withDryRun(mergePatch(c.item("a"), object{"metadata": object{"resourceVersion": before.ResourceVersion}})), modified.check),
		send(withDryRun(mergePatch(c.item("b"), object{})), notFound(c, "b").check),
		send(withDryRun(del(c.item("b"))), notFound(c, "b").check),
	)
}

func checkDryRunDelete(ctx context.Context, s *session, c collection) error {
	r, err := s.do(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	var before metav1.PartialObjectMetadata
	if err := r.decode(&before); err != nil {
		return err
	}
	unchanged := send(get(c.item("a")), code(200), isUnchanged(before), valueAt(nil, "metadata", "deletionTimestamp"))
	listed := func(r *response) error {
		l := objectList{response: r}
		if err := r.decode(&l); err != nil {
			return err
		}
		l.Items = slices.DeleteFunc(l.Items, func(o metav1.PartialObjectMetadata) bool { return o.Name == rootCAConfigMap })
		return l.expectNames("a")
	}
	otherUID := withDryRun(del(c.item("a")))
	otherUID.body = object{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": object{"uid": "another"}}
	return s.expectAll(ctx,
		send(withDryRun(del(c.item("a"))), code(200), kind("v1", "Status"), valueAt("Success", "status"), valueAt("a", "details", "name"),
			valueAt(c.resource, "details", "kind"), valueAt(string(before.UID), "details", "uid")), unchanged,
		send(withDryRun(del(c.path())), code(200), kind(c.apiVersion, c.kind+"List"), listed), unchanged,
		send(otherUID, code(http.StatusConflict)), unchanged,
	)
}

// checkDryRunConnect sends a dry run of a proxy request for a Service that does not exist. The
// parameter is checked first.
func checkDryRunConnect(ctx context.Context, s *session) error {
	if err := s.skipUnlessServed(ctx, "v1", "services/proxy"); err != nil {
		return err
	}
	namespace, err := s.namespace(ctx)
	if err != nil {
		return err
	}
	return s.expect(ctx, withDryRun(get("/api/v1/namespaces/"+namespace+"/services/none/proxy")), badRequest("dryRun is not supported"))
}
