package conformance

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// aggregatedMediaType returns the media type of aggregated discovery in a version.
func aggregatedMediaType(version string) string {
	return "application/json;g=apidiscovery.k8s.io;v=" + version + ";as=APIGroupDiscoveryList"
}

// groupDiscovery has the checked fields of an APIGroupDiscovery.
type groupDiscovery struct {
	Metadata struct{ Name string }
	Versions []versionDiscovery
}

type versionDiscovery struct {
	Version, Freshness string
	Resources          []resourceDiscovery
}

type resourceDiscovery struct {
	Resource, SingularResource, Scope string
	ShortNames, Categories            []string
	ResponseKind                      struct{ Group, Version, Kind string }
	Verbs                             []string
	Subresources                      []struct {
		Subresource  string
		ResponseKind struct{ Group, Version, Kind string }
		Verbs        []string
	}
}

// hasResource reports whether the version has a resource.
func (v versionDiscovery) hasResource(resource string) bool {
	return slices.ContainsFunc(v.Resources, func(r resourceDiscovery) bool { return r.Resource == resource })
}

// aggregatedDiscovery returns the groups of aggregated discovery.
func (s *session) aggregatedDiscovery(ctx context.Context, path string) ([]groupDiscovery, *response, error) {
	r, err := s.do(ctx, get(path).withAccept(aggregatedMediaType("v2")), code(200))
	if err != nil {
		return nil, nil, err
	}
	var list struct{ Items []groupDiscovery }
	if err := r.decode(&list); err != nil {
		return nil, nil, err
	}
	if len(list.Items) == 0 {
		return nil, nil, r.errorf("expected groups")
	}
	return list.Items, r, nil
}

// aggregatedCases returns the cases about aggregated discovery (DI-06 to DI-10).
func aggregatedCases() []Case {
	about := func(id, title, why string, check checkFunc) Case {
		return Case{ID: id, Level: Must, Title: title, Why: why, Source: "KEP-3352; apiserver pkg/endpoints/discovery/aggregated", check: check}
	}
	return []Case{
		about("DI-06/form", "/api and /apis are served in the aggregated form if the client accepts it", "clients read all of discovery in two requests", checkAggregatedMediaType),
		about("DI-06/anywhere", "the aggregated form takes precedence over other media types in Accept", "clients list the unaggregated form as a fallback for older servers",
			func(ctx context.Context, s *session) error {
				requested := "application/json, " + aggregatedMediaType("v2")
				return s.expect(ctx, get("/apis").withAccept(requested), code(200), kind("apidiscovery.k8s.io/v2", "APIGroupDiscoveryList"))
			}),
		about("DI-07/etag", "If-None-Match with only the current ETag of the aggregated form is answered 304", "clients repeat the request every few minutes", checkAggregatedETag),
		about("DI-07/vary", "the aggregated form is public, has Vary: Accept and a hash as its ETag",
			"caches between client and server would confuse the two forms", func(ctx context.Context, s *session) error {
				r, err := s.do(ctx, get("/apis").withAccept(aggregatedMediaType("v2")), code(200), headerIs("Vary", "Accept"), headerIs("Cache-Control", "public"))
				if err == nil && !regexp.MustCompile(`^"[0-9A-F]{128}"$`).MatchString(r.header.Get("ETag")) {
					return r.errorf("expected a SHA-512 for an ETag, got %s", r.header.Get("ETag"))
				}
				return err
			}),
		about("DI-08", "v2beta1 of the aggregated form is not served: the next accepted media type is used, or 406",
			"a client cannot decode a form that it did not request", checkNoAggregatedBeta),
		about("DI-09", "each version in the aggregated form is Current or Stale", "a stale version may be incomplete, and clients must not conclude that resources were removed",
			checkAggregatedFreshness),
		about("DI-10", "a resource in the aggregated form has its kind, scope, verbs and subresources", "clients have no other source for them", checkAggregatedResources),
	}
}

func checkAggregatedMediaType(ctx context.Context, s *session) error {
	for _, path := range []string{"/api", "/apis"} {
		if err := s.expect(ctx, get(path).withAccept(aggregatedMediaType("v2")), code(200), kind("apidiscovery.k8s.io/v2", "APIGroupDiscoveryList"),
			headerIs("Content-Type", aggregatedMediaType("v2"))); err != nil {
			return err
		}
	}
	return nil
}

func checkAggregatedETag(ctx context.Context, s *session) error {
	for _, path := range []string{"/api", "/apis"} {
		requested := get(path).withAccept(aggregatedMediaType("v2"))
		// Other clients may change discovery at the same time.
		if err := poll(ctx, func(ctx context.Context) error {
			r, err := s.do(ctx, requested, code(200))
			if err != nil {
				return err
			}
			tag := r.header.Get("ETag")
			if tag == "" {
				return r.errorf("expected an ETag")
			}
			return s.expect(ctx, requested.withIfNoneMatch(tag), code(304), headerIs("ETag", tag))
		}); err != nil {
			return err
		}
		r, err := s.do(ctx, requested, code(200))
		if err != nil {
			return err
		}
		tag := r.header.Get("ETag")
		for _, other := range []string{`"other"`, "W/" + tag, tag + `, "other"`, "*"} {
			if err := s.expect(ctx, requested.withIfNoneMatch(other), code(200)); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkNoAggregatedBeta(ctx context.Context, s *session) error {
	beta := aggregatedMediaType("v2beta1")
	if err := s.expect(ctx, get("/apis").withAccept(beta), code(406)); err != nil {
		return err
	}
	if err := s.expect(ctx, get("/apis").withAccept(beta+",application/json"), code(200), kind("v1", "APIGroupList")); err != nil {
		return err
	}
	return s.expect(ctx, get("/apis").withAccept(beta+","+aggregatedMediaType("v2")), code(200), kind("apidiscovery.k8s.io/v2", "APIGroupDiscoveryList"))
}

func checkAggregatedFreshness(ctx context.Context, s *session) error {
	groups, r, err := s.aggregatedDiscovery(ctx, "/apis")
	if err != nil {
		return err
	}
	if len(groups) == 0 {
		return r.errorf("expected groups")
	}
	for _, g := range groups {
		if len(g.Versions) == 0 {
			return r.errorf("expected versions of %s", g.Metadata.Name)
		}
		for _, v := range g.Versions {
			if v.Freshness != "Current" && v.Freshness != "Stale" {
				return r.errorf("expected %s/%s to be Current or Stale, got %q", g.Metadata.Name, v.Version, v.Freshness)
			}
		}
	}
	return nil
}

func checkAggregatedResources(ctx context.Context, s *session) error {
	groups, resp, err := s.aggregatedDiscovery(ctx, "/api")
	if err != nil {
		return err
	}
	if len(groups) != 1 || len(groups[0].Versions) != 1 || groups[0].Metadata.Name != "" {
		return resp.errorf("expected only the core group")
	}
	find := func(name string) (resourceDiscovery, error) {
		resources := groups[0].Versions[0].Resources
		i := slices.IndexFunc(resources, func(r resourceDiscovery) bool { return r.Resource == name })
		if i < 0 {
			return resourceDiscovery{}, resp.errorf("expected %s", name)
		}
		return resources[i], nil
	}
	secrets, err := find("secrets")
	if err != nil {
		return err
	}
	if secrets.SingularResource != "secret" || secrets.Scope != "Namespaced" || secrets.ResponseKind.Kind != "Secret" || !slices.Contains(secrets.Verbs, "watch") {
		return resp.errorf("expected the namespaced secret of kind Secret that can be watched, got %+v", secrets)
	}
	namespaces, err := find("namespaces")
	if err != nil {
		return err
	}
	var subresources []string
	for _, sub := range namespaces.Subresources {
		if sub.ResponseKind.Kind != "Namespace" || len(sub.Verbs) == 0 {
			return fmt.Errorf("expected a kind and verbs of namespaces/%s, got %+v", sub.Subresource, sub)
		}
		subresources = append(subresources, sub.Subresource)
	}
	if namespaces.Scope != "Cluster" || !slices.Contains(subresources, "status") {
		return resp.errorf("expected cluster-scoped namespaces with a status, got %s with %s", namespaces.Scope, strings.Join(subresources, ", "))
	}
	return nil
}
