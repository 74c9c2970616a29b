package conformance

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// discoveryCases returns the cases about unaggregated discovery (DI-01 to DI-05, DI-11, DI-12).
func discoveryCases() []Case {
	about := func(id, title, why string, check checkFunc) Case {
		return Case{ID: id, Level: Must, Title: title, Why: why, Source: "Kubernetes API Concepts, API discovery", check: check}
	}
	return []Case{
		about("DI-01", "/api lists the versions of the core group", "clients start there", func(ctx context.Context, s *session) error {
			return s.expect(ctx, get("/api"), code(200), field("APIVersions", "kind"), value([]any{"v1"}, "versions"))
		}),
		about("DI-02", "/apis lists the groups, and each group and each version has a document", "clients without the aggregated form read all three", checkGroupDiscovery),
		about("DI-03", "a group lists its versions by preference, and names the preferred one",
			"kubectl uses the preferred version by default", checkGroupPreference),
		about("DI-04", "discovery describes a resource by its names, scope, kind, verbs and the hash of its storage version",
			"clients map kinds and short names to paths with it", checkResourceDiscovery),
		about("DI-05", "a group that does not exist is NotFound", "clients request groups that may be installed", func(ctx context.Context, s *session) error {
			for _, path := range []string{"/apis/absent.conformance.example.com", "/apis/absent.conformance.example.com/v1"} {
				if err := s.expect(ctx, get(path), pageNotFound); err != nil {
					return err
				}
			}
			return nil
		}),
		onBasicCRs(Case{
			ID: "DI-11/custom", Level: Must, Title: "a served custom resource is in both forms of discovery",
			Why: "clients find custom resources in discovery only", Source: "apiextensions customresource_handler.go",
		}, checkCRInDiscovery),
		about("DI-12", "the listed verbs of a resource are those that are supported", "controllers choose what to watch by its verbs", checkVerbs),
	}
}

func checkGroupDiscovery(ctx context.Context, s *session) error {
	if err := s.expect(ctx, get("/apis"), code(200), kind("v1", "APIGroupList"), func(r *response) error {
		var list metav1.APIGroupList
		if err := r.decode(&list); err != nil {
			return err
		}
		if !slices.ContainsFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == "apps" }) {
			return fmt.Errorf("expected the group apps")
		}
		return nil
	}); err != nil {
		return err
	}
	if err := s.expect(ctx, get("/apis/apps"), code(200), kind("v1", "APIGroup"), field("apps", "name")); err != nil {
		return err
	}
	return s.expect(ctx, get("/apis/apps/v1"), code(200), kind("v1", "APIResourceList"), field("apps/v1", "groupVersion"))
}

// checkGroupPreference retries while the documents are inconsistent: other clients and earlier
// cases may add and remove groups, and servers update the documents one after the other.
func checkGroupPreference(ctx context.Context, s *session) error {
	return poll(ctx, func(ctx context.Context) error { return s.expectGroupPreference(ctx) })
}

func (s *session) expectGroupPreference(ctx context.Context) error {
	var list metav1.APIGroupList
	r, err := s.do(ctx, get("/apis"), code(200))
	if err != nil {
		return err
	}
	if err := r.decode(&list); err != nil {
		return err
	}
	for _, g := range list.Groups {
		if len(g.Versions) == 0 || g.PreferredVersion != g.Versions[0] {
			return r.errorf("expected %s to prefer the first of its versions %v, got %v", g.Name, g.Versions, g.PreferredVersion)
		}
		for _, v := range g.Versions {
			if v.GroupVersion != g.Name+"/"+v.Version {
				return r.errorf("expected the version %s of %s, got %s", v.Version, g.Name, v.GroupVersion)
			}
		}
		if err := s.expect(ctx, get("/apis/"+g.Name), code(200), field(g.PreferredVersion.GroupVersion, "preferredVersion", "groupVersion")); err != nil {
			return err
		}
	}
	return nil
}

// storageHashPattern matches the hash of a storage version: eight bytes in base64.
var storageHashPattern = regexp.MustCompile(`^[A-Za-z0-9+/]{11}=$`)

func checkResourceDiscovery(ctx context.Context, s *session) error {
	got, err := s.discoverResource(ctx, "v1", "secrets")
	if err != nil {
		return err
	}
	verbs := []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	switch {
	case got == nil:
		return fmt.Errorf("expected secrets among the resources of v1")
	case got.SingularName != "secret" || !got.Namespaced || got.Kind != "Secret":
		return fmt.Errorf("expected the namespaced secret of kind Secret, got %+v", got)
	case !slices.Equal(slices.Sorted(slices.Values(got.Verbs)), verbs):
		return fmt.Errorf("expected the verbs %v, got %v", verbs, got.Verbs)
	case !storageHashPattern.MatchString(got.StorageVersionHash):
		return fmt.Errorf("expected a hash of the stored version, got %q", got.StorageVersionHash)
	}
	namespaces, err := s.discoverResource(ctx, "v1", "namespaces")
	if err != nil {
		return err
	}
	if namespaces == nil || namespaces.Namespaced || !slices.Equal(namespaces.ShortNames, []string{"ns"}) {
		return fmt.Errorf("expected cluster-scoped namespaces with the short name ns, got %+v", namespaces)
	}
	status, err := s.discoverResource(ctx, "v1", "namespaces/status")
	if err != nil {
		return err
	}
	if status == nil || status.Kind != "Namespace" || status.SingularName != "" || status.StorageVersionHash != "" {
		return fmt.Errorf("expected the subresource namespaces/status of kind Namespace, got %+v", status)
	}
	return nil
}

func checkCRInDiscovery(ctx context.Context, s *session, c collection) error {
	return poll(ctx, func(ctx context.Context) error { // documents that are merged from several servers are updated late
		found, err := s.discoverResource(ctx, c.apiVersion, c.resource)
		if err != nil {
			return err
		}
		if found == nil {
			return fmt.Errorf("expected %s of %s in the plain form", c.resource, c.apiVersion)
		}
		groups, r, err := s.aggregatedDiscovery(ctx, "/apis")
		if err != nil {
			return err
		}
		for _, g := range groups {
			for _, v := range g.Versions {
				if g.Metadata.Name+"/"+v.Version == c.apiVersion && v.hasResource(c.resource) {
					return nil
				}
			}
		}
		return r.errorf("expected %s of %s", c.resource, c.apiVersion)
	})
}

// verbRequests has a request for each verb that changes nothing, because its object does not exist,
// its body or resourceVersion is invalid, or its selector matches nothing.
var verbRequests = []struct {
	verb, method string
	more         string // what follows the path of the collection
}{
	{"list", http.MethodGet, ""},
	{"watch", http.MethodGet, "?watch=1&resourceVersion=invalid"},
	{"create", http.MethodPost, ""},
	{"deletecollection", http.MethodDelete, "?labelSelector=conformance-absent"},
	{"get", http.MethodGet, "/absent"},
	{"update", http.MethodPut, "/absent"},
	{"patch", http.MethodPatch, "/absent"},
	{"delete", http.MethodDelete, "/absent"},
}

func checkVerbs(ctx context.Context, s *session) error {
	c, err := s.secrets(ctx)
	if err != nil {
		return err
	}
	var list metav1.APIResourceList
	resp, err := s.do(ctx, get("/api/v1"), code(200))
	if err != nil {
		return err
	}
	if err := resp.decode(&list); err != nil {
		return err
	}
	for _, r := range list.APIResources {
		if !r.Namespaced || strings.Contains(r.Name, "/") {
			continue // the suite sends requests in its own namespaces only
		}
		in := c
		in.resource = r.Name
		if err := s.expectVerbs(ctx, in.path(), r.Verbs); err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
	}
	return nil
}

// expectVerbs sends requests to a collection whose errors depend on whether the verbs are
// supported.
func (s *session) expectVerbs(ctx context.Context, collection string, listed []string) error {
	for _, one := range verbRequests {
		c := call{method: one.method, path: collection + one.more}
		if c.method != http.MethodGet && c.method != http.MethodDelete {
			c.body, c.contentType = "?", "application/x-conformance-nothing"
		}
		r, err := s.do(ctx, c)
		if err != nil {
			return err
		}
		switch works := slices.Contains(listed, one.verb); {
		case works && isUnsupported(r):
			return r.errorf("expected %s to be supported, as it is in discovery", one.verb)
		case !works && !isUnsupported(r):
			return r.errorf("expected %s to be unsupported, as it is not in discovery", one.verb)
		}
	}
	return nil
}

// isUnsupported reports whether a response says that the server does not have the path, or not with
// this method. It does not if only the object is not found.
func isUnsupported(r *response) bool {
	notServed := pageNotFound(r) == nil || strings.Contains(string(r.body), "could not find")
	return r.code == http.StatusMethodNotAllowed || r.code == http.StatusNotFound && notServed
}
