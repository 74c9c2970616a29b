package conformance

import (
	"context"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docURIs  = "Kubernetes API Concepts, Resource URIs"
	docVerbs = "API conventions, Verbs on Resources"
)

// pathCases returns the cases about paths that are served (PV).
func pathCases() []Case {
	return slices.Concat([]Case{
		onSecrets(Case{
			ID: "PV-01/core", Level: Must, Title: "the core group is served under /api/v1",
			Why:    "clients build core paths without /apis",
			Source: docURIs,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, get(c.path()), code(200), kind("v1", "SecretList"))
		}),
		{
			ID: "PV-01/group", Level: Must, Title: "a named group is served under /apis/GROUP/VERSION, and not under /api",
			Why:    "clients build these paths from group and version",
			Source: docURIs, check: checkGroupPath,
		},
		{
			ID: "PV-02", Level: Must, Title: "a cluster-scoped type is served at RESOURCE and RESOURCE/NAME",
			Why:    "clients of cluster-scoped types send no namespace",
			Source: docURIs, check: checkClusterScopedPath,
		},
		onSecrets(Case{
			ID: "PV-04", Level: Must, Title: "GET of a namespaced type without a namespace lists all namespaces",
			Why:    "informers for all namespaces start with this list",
			Source: docURIs,
		}, checkCrossNamespaceList),
		onSecrets(Case{
			ID: "PV-08/verbs", Level: Must, Title: "POST creates, GET reads and lists, PUT updates, PATCH patches, DELETE deletes",
			Why:    "all clients rely on it",
			Source: docVerbs,
		}, checkMethods),
		onSecrets(Case{
			ID: "PV-08/deletecollection", Level: Must, Title: "DELETE of a collection deletes only the objects that its selector matches",
			Why:    "cleaning up by label must not delete other objects",
			Source: docVerbs,
		}, checkCollectionDelete),
		{
			ID: "PV-20", Level: Should, Title: "GET / lists the paths of the server",
			Why:    "users and probes read it",
			Source: "apiserver pkg/server/routes/index.go", check: checkRootIndex,
		},
		{
			ID: "PV-30/status", Level: Must, Title: "namespaces/NAME/status is a subresource, not a resource in the namespace",
			Why:    "the namespace controller reads and writes it there",
			Source: "apiserver requestinfo.go", check: checkNamespaceStatus,
		},
		{
			ID: "PV-30/finalize", Level: Must, Title: "namespaces/NAME/finalize is a subresource, not a resource in the namespace",
			Why:    "a namespace is finalized by a PUT there",
			Source: "apiserver requestinfo.go", check: checkNamespaceFinalize,
		},
	},
		onBoth(Case{
			ID: "PV-03", Level: Must, Title: "a namespaced type is served at namespaces/NS/RESOURCE and namespaces/NS/RESOURCE/NAME",
			Why:    "clients read and write there",
			Source: docURIs,
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			if err := s.expect(ctx, get(c.path()), code(200), kind(c.apiVersion, c.kind+"List")); err != nil {
				return err
			}
			return s.expect(ctx, get(c.item("a")), code(200), kind(c.apiVersion, c.kind), field("a", "metadata", "name"))
		}),
		onBoth(Case{
			ID: "PV-21", Level: Should, Title: "a slash after a collection path is allowed",
			Why:    "simple clients may add it",
			Source: "apiextensions customresource_handler.go",
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, get(c.path()+"/"), code(200), kind(c.apiVersion, c.kind+"List"))
		}),
		onBoth(Case{
			ID: "PV-22", Level: Must, Title: "unknown query parameters are ignored",
			Why:    "newer clients send parameters that older servers lack",
			Source: "Kubernetes API Concepts",
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, get(c.path()+"?nosuchparameter=1&another"), code(200), kind(c.apiVersion, c.kind+"List"))
		}),
	)
}

func checkGroupPath(ctx context.Context, s *session) error {
	c, err := s.leases(ctx)
	if err != nil {
		return err
	}
	if err := s.expect(ctx, get(c.path()), code(200), kind("coordination.k8s.io/v1", "LeaseList")); err != nil {
		return err
	}
	c.root = "/api/coordination.k8s.io/v1"
	return s.expect(ctx, get(c.path()), code(404))
}

func checkClusterScopedPath(ctx context.Context, s *session) error {
	ns, err := s.namespace(ctx)
	if err != nil {
		return err
	}
	if err := s.expect(ctx, get("/api/v1/namespaces/"+ns), code(200), kind("v1", "Namespace"), field(ns, "metadata", "name")); err != nil {
		return err
	}
	l, err := s.list(ctx, "/api/v1/namespaces")
	if err != nil {
		return err
	}
	if l.Kind != "NamespaceList" || !slices.Contains(l.names(), ns) {
		return l.response.errorf("expected a NamespaceList with %s", ns)
	}
	return nil
}

// createInTwoNamespaces creates a labelled object in each of two namespaces, and returns a query
// that selects exactly these.
func createInTwoNamespaces(ctx context.Context, c collection) (other collection, query string, err error) {
	other, err = c.inNewNamespace(ctx)
	if err != nil {
		return other, "", err
	}
	for _, in := range []collection{c, other} {
		if _, err := in.create(ctx, in.object("a").withLabel("run", c.namespace)); err != nil {
			return other, "", err
		}
	}
	return other, "?labelSelector=run=" + c.namespace, nil
}

func checkCrossNamespaceList(ctx context.Context, s *session, c collection) error {
	other, query, err := createInTwoNamespaces(ctx, c)
	if err != nil {
		return err
	}
	l, err := s.list(ctx, c.allNamespacesPath()+query)
	if err != nil {
		return err
	}
	if err := l.expectNames("a", "a"); err != nil {
		return err
	}
	got := []string{l.Items[0].Namespace, l.Items[1].Namespace}
	if !slices.Contains(got, c.namespace) || !slices.Contains(got, other.namespace) {
		return l.response.errorf("expected items of the namespaces %s and %s", c.namespace, other.namespace)
	}
	return nil
}

func checkMethods(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	if err := s.expect(ctx, get(c.item("a")), code(200), kind("v1", "Secret"), field("a", "metadata", "name")); err != nil {
		return err
	}
	replaced := c.object("a").withLabel("put", "yes")
	replaced["type"] = "Opaque"
	if err := s.expect(ctx, put(c.item("a"), replaced), code(200), field("yes", "metadata", "labels", "put")); err != nil {
		return err
	}
	patch := object{"metadata": object{"labels": object{"patched": "yes"}}}
	if err := s.expect(ctx, mergePatch(c.item("a"), patch), code(200), field("yes", "metadata", "labels", "patched")); err != nil {
		return err
	}
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	if err := l.expectNames("a"); err != nil {
		return err
	}
	if err := c.delete(ctx, "a"); err != nil {
		return err
	}
	return s.expect(ctx, get(c.item("a")), code(404))
}

func checkCollectionDelete(ctx context.Context, s *session, c collection) error {
	for name, group := range sortedByKey(map[string]string{"a": "go", "b": "stay", "c": "go"}) {
		if _, err := c.create(ctx, c.object(name).withLabel("group", group)); err != nil {
			return err
		}
	}
	if err := s.expect(ctx, del(c.path()+"?labelSelector=group=go"), code(200)); err != nil {
		return err
	}
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	return l.expectNames("b")
}

func checkRootIndex(ctx context.Context, s *session) error {
	r, err := s.do(ctx, get("/"), code(http.StatusOK))
	if err != nil {
		return err
	}
	var paths metav1.RootPaths
	if err := r.decode(&paths); err != nil {
		return err
	}
	for _, path := range []string{"/api/v1", "/apis", "/apis/apps", "/apis/apps/v1"} {
		if !slices.Contains(paths.Paths, path) {
			return r.errorf("expected %s among the paths", path)
		}
	}
	return nil
}

func checkNamespaceStatus(ctx context.Context, s *session) error {
	ns, err := s.namespace(ctx)
	if err != nil {
		return err
	}
	return s.expect(ctx, get("/api/v1/namespaces/"+ns+"/status"), code(200), kind("v1", "Namespace"), field(ns, "metadata", "name"))
}

func checkNamespaceFinalize(ctx context.Context, s *session) error {
	if err := s.skipUnlessServed(ctx, "v1", "namespaces/finalize"); err != nil {
		return err
	}
	ns, err := s.namespace(ctx)
	if err != nil {
		return err
	}
	r, err := s.do(ctx, get("/api/v1/namespaces/"+ns), code(200))
	if err != nil {
		return err
	}
	return s.expect(ctx, put("/api/v1/namespaces/"+ns+"/finalize", string(r.body)), code(200), kind("v1", "Namespace"), field(ns, "metadata", "name"))
}
