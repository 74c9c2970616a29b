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

// pathCases are the paths that lead somewhere (PV).
func pathCases() []Case {
	return slices.Concat([]Case{
		onSecrets(Case{
			ID: "PV-01/core", Level: Must, Title: "the core group is served under /api/v1",
			Why:    "every client builds core paths without /apis",
			Source: docURIs,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.try(ctx, get(c.path()), code(200), kind("v1", "SecretList"))
		}),
		{
			ID: "PV-01/group", Level: Must, Title: "a named group is served under /apis/GROUP/VERSION, and not under /api",
			Why:    "every client builds the paths of named groups from their group and version",
			Source: docURIs, check: groupPath,
		},
		{
			ID: "PV-02", Level: Must, Title: "a cluster-scoped type answers at RESOURCE and RESOURCE/NAME",
			Why:    "clients of cluster-scoped types put no namespace in the path",
			Source: docURIs, check: clusterScopedPath,
		},
		onSecrets(Case{
			ID: "PV-04", Level: Must, Title: "GET of a namespaced type without a namespace lists all namespaces",
			Why:    "informers for all namespaces start with this list",
			Source: docURIs,
		}, crossNamespaceList),
		onSecrets(Case{
			ID: "PV-08/verbs", Level: Must, Title: "POST creates, GET reads and lists, PUT updates, PATCH patches, DELETE deletes",
			Why:    "it is the whole interface",
			Source: docVerbs,
		}, methodsAreVerbs),
		onSecrets(Case{
			ID: "PV-08/deletecollection", Level: Must, Title: "DELETE of a collection deletes what its selector matches, and nothing else",
			Why:    "clean-up by label must not take its neighbours along",
			Source: docVerbs,
		}, collectionDelete),
		{
			ID: "PV-20", Level: Should, Title: "GET / lists the paths that the server has",
			Why:    "it is how people and probes look around",
			Source: "apiserver pkg/server/routes/index.go", check: rootIndex,
		},
		{
			ID: "PV-30/status", Level: Must, Title: "status under a namespace is its subresource, not a resource inside it",
			Why:    "the namespace controller reads and writes it there",
			Source: "apiserver requestinfo.go", check: namespaceStatus,
		},
		{
			ID: "PV-30/finalize", Level: Must, Title: "finalize under a namespace is its subresource, not a resource inside it",
			Why:    "a namespace ends by a PUT there",
			Source: "apiserver requestinfo.go", check: namespaceFinalize,
		},
	},
		both(Case{
			ID: "PV-03", Level: Must, Title: "a namespaced type answers at namespaces/NS/RESOURCE and namespaces/NS/RESOURCE/NAME",
			Why:    "it is where clients read and write",
			Source: docURIs,
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			if err := s.try(ctx, get(c.path()), code(200), kind(c.apiVersion, c.kind+"List")); err != nil {
				return err
			}
			return s.try(ctx, get(c.item("a")), code(200), kind(c.apiVersion, c.kind), field("a", "metadata", "name"))
		}),
		both(Case{
			ID: "PV-21", Level: Should, Title: "a slash after a collection path is tolerated",
			Why:    "hand-written clients join paths carelessly",
			Source: "apiextensions customresource_handler.go",
		}, func(ctx context.Context, s *session, c collection) error {
			return s.try(ctx, get(c.path()+"/"), code(200), kind(c.apiVersion, c.kind+"List"))
		}),
		both(Case{
			ID: "PV-22", Level: Must, Title: "query parameters that the server does not know are ignored",
			Why:    "newer clients send parameters that older servers lack",
			Source: "Kubernetes API Concepts",
		}, func(ctx context.Context, s *session, c collection) error {
			return s.try(ctx, get(c.path()+"?nosuchparameter=1&another"), code(200), kind(c.apiVersion, c.kind+"List"))
		}),
	)
}

func groupPath(ctx context.Context, s *session) error {
	c, err := s.leases(ctx)
	if err != nil {
		return err
	}
	if err := s.try(ctx, get(c.path()), code(200), kind("coordination.k8s.io/v1", "LeaseList")); err != nil {
		return err
	}
	c.root = "/api/coordination.k8s.io/v1"
	return s.try(ctx, get(c.path()), code(404))
}

func clusterScopedPath(ctx context.Context, s *session) error {
	ns, err := s.namespace(ctx)
	if err != nil {
		return err
	}
	if err := s.try(ctx, get("/api/v1/namespaces/"+ns), code(200), kind("v1", "Namespace"), field(ns, "metadata", "name")); err != nil {
		return err
	}
	l, err := s.list(ctx, "/api/v1/namespaces")
	if err != nil {
		return err
	}
	if l.Kind != "NamespaceList" || !slices.Contains(l.names(), ns) {
		return l.from.errorf("expected a NamespaceList with %s", ns)
	}
	return nil
}

// twoNamespaces creates a labelled object in each of two namespaces, and gives the query that selects just these.
func twoNamespaces(ctx context.Context, c collection) (other collection, query string, err error) {
	other, err = c.sibling(ctx)
	if err != nil {
		return other, "", err
	}
	for _, in := range []collection{c, other} {
		if _, err := in.create(ctx, in.object("a").label("run", c.namespace)); err != nil {
			return other, "", err
		}
	}
	return other, "?labelSelector=run=" + c.namespace, nil
}

func crossNamespaceList(ctx context.Context, s *session, c collection) error {
	other, query, err := twoNamespaces(ctx, c)
	if err != nil {
		return err
	}
	l, err := s.list(ctx, c.everywhere()+query)
	if err != nil {
		return err
	}
	if err := l.has("a", "a"); err != nil {
		return err
	}
	got := []string{l.Items[0].Namespace, l.Items[1].Namespace}
	if !slices.Contains(got, c.namespace) || !slices.Contains(got, other.namespace) {
		return l.from.errorf("expected items of the namespaces %s and %s", c.namespace, other.namespace)
	}
	return nil
}

func methodsAreVerbs(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	if err := s.try(ctx, get(c.item("a")), code(200), kind("v1", "Secret"), field("a", "metadata", "name")); err != nil {
		return err
	}
	replaced := c.object("a").label("put", "yes")
	replaced["type"] = "Opaque"
	if err := s.try(ctx, put(c.item("a"), replaced), code(200), field("yes", "metadata", "labels", "put")); err != nil {
		return err
	}
	patch := object{"metadata": object{"labels": object{"patched": "yes"}}}
	if err := s.try(ctx, mergePatch(c.item("a"), patch), code(200), field("yes", "metadata", "labels", "patched")); err != nil {
		return err
	}
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	if err := l.has("a"); err != nil {
		return err
	}
	if err := c.delete(ctx, "a"); err != nil {
		return err
	}
	return s.try(ctx, get(c.item("a")), code(404))
}

func collectionDelete(ctx context.Context, s *session, c collection) error {
	for name, group := range inOrder(map[string]string{"a": "go", "b": "stay", "c": "go"}) {
		if _, err := c.create(ctx, c.object(name).label("group", group)); err != nil {
			return err
		}
	}
	if err := s.try(ctx, del(c.path()+"?labelSelector=group=go"), code(200)); err != nil {
		return err
	}
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	return l.has("b")
}

func rootIndex(ctx context.Context, s *session) error {
	a, err := s.do(ctx, get("/"), code(http.StatusOK))
	if err != nil {
		return err
	}
	var paths metav1.RootPaths
	if err := a.decode(&paths); err != nil {
		return err
	}
	for _, path := range []string{"/api/v1", "/apis"} {
		if !slices.Contains(paths.Paths, path) {
			return a.errorf("expected %s among the paths", path)
		}
	}
	return nil
}

func namespaceStatus(ctx context.Context, s *session) error {
	ns, err := s.namespace(ctx)
	if err != nil {
		return err
	}
	return s.try(ctx, get("/api/v1/namespaces/"+ns+"/status"), code(200), kind("v1", "Namespace"), field(ns, "metadata", "name"))
}

func namespaceFinalize(ctx context.Context, s *session) error {
	if err := s.needs(ctx, "v1", "namespaces/finalize"); err != nil {
		return err
	}
	ns, err := s.namespace(ctx)
	if err != nil {
		return err
	}
	a, err := s.do(ctx, get("/api/v1/namespaces/"+ns), code(200))
	if err != nil {
		return err
	}
	return s.try(ctx, put("/api/v1/namespaces/"+ns+"/finalize", string(a.body)), code(200), kind("v1", "Namespace"), field(ns, "metadata", "name"))
}
