package conformance

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
)

// httpCases returns the cases about HTTP itself (HT).
func httpCases() []Case {
	const mux = "apiserver pkg/server/handler.go"
	about := func(id string, level Level, title, why, source string, check checkFunc) Case {
		return Case{ID: id, Level: level, Title: title, Why: why, Source: source, check: check}
	}
	return []Case{
		about("HT-01", Must, "API responses forbid shared caching", "a proxy would send one client the objects of another", "apiserver pkg/endpoints/filters/cachecontrol.go",
			func(ctx context.Context, s *session) error {
				for _, path := range []string{"/api/v1/namespaces/default", "/api/v1/namespaces/default/secrets/conformance-absent", "/api/v1", "/version"} {
					if err := s.expect(ctx, get(path), headerIs("Cache-Control", "no-cache, private")); err != nil {
						return err
					}
				}
				return nil
			}),
		onSecrets(Case{
			ID: "HT-04", Level: Must, Title: "OPTIONS is not allowed on objects and collections",
			Why: "a proxy must not conclude that every method is allowed", Source: "apiserver installer.go",
		}, checkMethodNotAllowed(http.MethodOptions)),
		onSecrets(Case{
			ID: "HT-05", Level: Must, Title: "unknown HTTP methods are not allowed on objects and collections",
			Why: "they must not be handled as a known method", Source: "apiserver installer.go",
		}, checkMethodNotAllowed("CONFORM")),
		about("HT-12", Should, "double slashes are not merged", "path rules, such as those of RBAC, could be bypassed", mux,
			func(ctx context.Context, s *session) error {
				for _, path := range []string{"//api/v1/namespaces/default", "/api//v1/namespaces/default", "/api/v1//namespaces/default", "/api/v1/namespaces//default", "/apis//"} {
					if err := s.expect(ctx, get(path), code(404)); err != nil {
						return err
					}
				}
				return nil
			}),
		{
			ID: "HT-14", Level: Must, Title: "a connection stays usable after an error", Why: "clients would open a connection for each request",
			Source: "RFC 9112, section 9.3", check: checkConnectionReuse, alone: true, // others take the idle connections of the client
		},
		onSecrets(Case{
			ID: "HT-15", Level: Must, Title: "a watch has no Content-Length", Why: "clients would wait for missing bytes", Source: "apiserver pkg/endpoints/handlers/watch.go",
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, get(c.path()+"?watch=1&timeoutSeconds=1"), code(200), headerIs("Content-Length", ""), func(r *response) error {
				if !r.chunked {
					return fmt.Errorf("expected a response without Content-Length")
				}
				return nil
			})
		}),
		about("HT-16", Should, "the API does not redirect", "clients would have to resend credentials and bodies", "Kubernetes API conventions, HTTP Status codes",
			func(ctx context.Context, s *session) error {
				for _, path := range []string{"/api/", "/apis/", "/apis/apps/", "/apis/apps/v1/", "/version/", "/api/v1/namespaces/"} {
					if err := s.expect(ctx, get(path), code(200), func(r *response) error {
						if r.redirected {
							return fmt.Errorf("expected no redirect")
						}
						return nil
					}); err != nil {
						return err
					}
				}
				return nil
			}),
	}
}

func checkMethodNotAllowed(method string) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		if _, err := c.create(ctx, c.object("a")); err != nil {
			return err
		}
		for _, path := range []string{c.path(), c.item("a")} {
			want := failure{code: 405, reason: "MethodNotAllowed", message: "the server does not allow this method on the requested resource"}
			if err := s.expect(ctx, call{method: method, path: path}, want.check); err != nil {
				return err
			}
		}
		return nil
	}
}

// checkConnectionReuse causes errors one after the other, for which few connections may be opened.
func checkConnectionReuse(ctx context.Context, s *session) error {
	const requests = 12
	fresh := 0
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if !info.Reused {
			fresh++
		}
	}})
	for range requests {
		if err := s.expect(traced, get("/api/v1/namespaces/conformance-absent"), code(404)); err != nil {
			return err
		}
		if err := s.expect(traced, get("/conformance-absent"), code(404)); err != nil {
			return err
		}
	}
	if fresh > requests {
		return fmt.Errorf("expected connections to be reused after errors: %d requests opened %d", 2*requests, fresh)
	}
	return nil
}
