package conformance

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docAuthentication = "Authenticating; apiserver filters/authentication.go"
	docAuthorization  = "Authorization overview; apiserver filters/authorization.go"
	docImpersonation  = "User impersonation; apiserver filters/impersonation"
	docRequestInfo    = "apiserver request/requestinfo.go"
)

// accessCases returns the cases about authentication, authorization and impersonation (AU).
func accessCases() []Case {
	deniedCase := func(id, title, why, source string, check checkFunc) Case {
		return Case{ID: id, Level: Must, Title: title, Why: why, Source: source, check: func(ctx context.Context, s *session) error {
			if err := s.skipWithoutAuthorization(ctx); err != nil {
				return err
			}
			return check(ctx, s)
		}}
	}
	return []Case{
		{
			ID: "AU-01", Level: Must, Title: "a request with an invalid token is answered 401, whatever it requests",
			Why: "the client must obtain other credentials", Source: docAuthentication, check: checkWrongToken,
		},
		deniedCase("AU-02", "a denial names the user, the verb, the resource and the namespace", "the message names the missing permission", docAuthorization,
			func(ctx context.Context, s *session) error {
				return s.expect(ctx, get("/api/v1/namespaces/default/secrets").asUnprivileged(), isDenied("list", "secrets", "", `in the namespace "default"`)...)
			}),
		deniedCase("AU-02/group", "a denial includes the API group of the resource", "the same resource name exists in several groups", docAuthorization,
			func(ctx context.Context, s *session) error {
				return s.expect(ctx, get("/apis/apps/v1/namespaces/default/deployments/a/scale").asUnprivileged(), isDenied("get", "deployments.apps/scale", "a", `in the namespace "default"`)...)
			}),
		deniedCase("AU-02/path", "a denial of a non-resource path names the path", "a path has no resource to name", docAuthorization,
			func(ctx context.Context, s *session) error {
				message := regexp.MustCompile(`^forbidden: User "[^"]+" cannot get path "/conformance-no-such-path"(: .*)?$`)
				return s.expect(ctx, get("/conformance-no-such-path").asUnprivileged(), isForbidden(message, metav1.StatusDetails{}), hasNosniff)
			}),
		deniedCase("AU-03", "a denied request gets 403 whether or not the resource exists", "a 404 would leak names to users without permission", docAuthorization,
			func(ctx context.Context, s *session) error {
				absent := "/api/v1/namespaces/" + s.absentNamespace() + "/secrets/a"
				if err := s.expect(ctx, get(absent).asUnprivileged(), isDenied("get", "secrets", "a", fmt.Sprintf("in the namespace %q", s.absentNamespace()))...); err != nil {
					return err
				}
				return s.expect(ctx, get("/apis/nothing.example.com/v1/things").asUnprivileged(), isDenied("list", "things.nothing.example.com", "", "at the cluster scope")...)
			}),
		deniedCase("AU-04", "a denial across namespaces reads \"at the cluster scope\"", "permission in one namespace is not sufficient", docAuthorization,
			func(ctx context.Context, s *session) error {
				return s.expect(ctx, get("/api/v1/secrets").asUnprivileged(), isDenied("list", "secrets", "", "at the cluster scope")...)
			}),
		{
			ID: "AU-06", Level: Must, Title: "every response has an Audit-Id, which is that of the request if it has one",
			Why: "it links the response to the audit log", Source: "Auditing; apiserver filters/audit_init.go", check: checkAuditID,
		},
		{
			ID: "AU-07", Level: Must, Title: "impersonating groups, a uid or extras requires impersonating a user",
			Why: "the request would be made as the wrong user", Source: docImpersonation, check: checkImpersonationWithoutUser,
		},
		deniedCase("AU-08", "impersonation requires permission", "any user could otherwise act as the administrator", docImpersonation,
			func(ctx context.Context, s *session) error {
				if s.run.config.UnprivilegedClient == nil {
					return s.skipf("it needs Config.UnprivilegedClient, a client without rights")
				}
				message := regexp.MustCompile(`^.* is forbidden: User "[^"]+" cannot impersonate.* resource "[^"]+" in API group "[^"]*" .*$`)
				return s.expect(ctx, get("/api/v1/secrets").asUnprivileged().withHeader("Impersonate-User", "conformance"), code(403), hasReason(metav1.StatusReasonForbidden), messageMatches(message), hasNosniff)
			}),
		deniedCase("AU-09", "a list or watch of one name requires permission for that object only", "a kubelet watches single Secrets of its pods by name", docRequestInfo,
			func(ctx context.Context, s *session) error {
				for verb, query := range sortedByKey(map[string]string{"list": "?", "watch": "?watch=1&timeoutSeconds=1&"}) {
					byName := get("/api/v1/namespaces/default/secrets" + query + "fieldSelector=metadata.name%3Da").asUnprivileged()
					if err := s.expect(ctx, byName, isDenied(verb, "secrets", "a", `in the namespace "default"`)...); err != nil {
						return err
					}
				}
				return nil
			}),
		deniedCase("AU-10", "deletecollection is a verb of its own", "permission to delete one object does not include the collection", docRequestInfo,
			func(ctx context.Context, s *session) error {
				// The selector matches nothing, in case the server is faulty.
				all := del("/api/v1/namespaces/default/secrets?labelSelector=conformance-absent=" + strings.ToLower(s.run.id)).asUnprivileged()
				return s.expect(ctx, all, isDenied("deletecollection", "secrets", "", `in the namespace "default"`)...)
			}),
		deniedCase("SA-30", "apply requires permission to patch", "apply would otherwise bypass write permissions", docAuthorization, func(ctx context.Context, s *session) error {
			// The namespace does not exist, in case the server is faulty.
			path := "/api/v1/namespaces/" + s.absentNamespace() + "/secrets/a"
			return s.expect(ctx, apply(path, newObject("v1", "Secret", "a")).asUnprivileged(), isDenied("patch", "secrets", "a", fmt.Sprintf("in the namespace %q", s.absentNamespace()))...)
		}),
		deniedCase("DR-08", "a dry run requires the permission of the write", "the response to a dry run contains stored data, such as Secrets", docAuthorization, checkDeniedDryRuns),
	}
}

// checkDeniedDryRuns sends a dry run of every write verb in a namespace that does not exist.
func checkDeniedDryRuns(ctx context.Context, s *session) error {
	where := fmt.Sprintf("in the namespace %q", s.absentNamespace())
	path, secret := "/api/v1/namespaces/"+s.absentNamespace()+"/secrets", newObject("v1", "Secret", "a")
	for _, one := range []struct {
		call       call
		verb, name string
	}{
		{post(path, secret), "create", ""},
		{put(path+"/a", secret), "update", "a"},
		{mergePatch(path+"/a", object{}), "patch", "a"},
		{del(path + "/a"), "delete", "a"},
		{del(path), "deletecollection", ""},
	} {
		if err := s.expect(ctx, one.call.withQuery("dryRun=All").asUnprivileged(), isDenied(one.verb, "secrets", one.name, where)...); err != nil {
			return err
		}
	}
	return nil
}

// skipWithoutAuthorization skips the case if the server authorizes every user and
// Config.UnprivilegedClient is nil.
func (s *session) skipWithoutAuthorization(ctx context.Context) error {
	if s.run.config.UnprivilegedClient != nil {
		return nil
	}
	r, err := s.do(ctx, get("/api/v1/secrets?limit=1").asUnprivileged())
	if err == nil && r.code == http.StatusOK {
		err = s.skipf("an unknown user may read all Secrets: the server authorizes every request, and Config.UnprivilegedClient is not set")
	}
	return err
}

// absentNamespace returns the name of a namespace that does not exist.
func (s *session) absentNamespace() string { return s.run.prefix() + "absent" }

func hasNosniff(r *response) error {
	if got := r.header.Get("X-Content-Type-Options"); got != "nosniff" {
		return fmt.Errorf("expected X-Content-Type-Options nosniff, got %q", got)
	}
	return nil
}

// messageMatches expects a Status whose message matches a pattern.
func messageMatches(message *regexp.Regexp) expectation {
	return func(r *response) error {
		var status metav1.Status
		if err := r.decode(&status); err != nil {
			return err
		}
		if !message.MatchString(status.Message) {
			return fmt.Errorf("expected a message that matches %s, got %q", message, status.Message)
		}
		return nil
	}
}

// hasReason expects a Status with a reason.
func hasReason(want metav1.StatusReason) expectation { return field(string(want), "reason") }

// isForbidden expects a denial with a message and details.
func isForbidden(message *regexp.Regexp, details metav1.StatusDetails) expectation {
	return func(r *response) error {
		if err := (failure{code: 403, reason: metav1.StatusReasonForbidden, details: &details}).check(r); err != nil {
			return err
		}
		return messageMatches(message)(r)
	}
}

// isDenied expects the denial of a verb on RESOURCE[.GROUP][/SUBRESOURCE], for an object or, with
// name "", for a collection.
func isDenied(verb, resource, name, where string) []expectation {
	return isDeniedTo(`"[^"]+"`, verb, resource, name, where)
}

// isDeniedTo is like isDenied, for a user whose quoted name matches a regular expression.
func isDeniedTo(user, verb, resource, name, where string) []expectation {
	resource, sub, _ := strings.Cut(resource, "/")
	plural, group, _ := strings.Cut(resource, ".")
	what := plural
	if sub != "" {
		what += "/" + sub
	}
	subject := resource
	if name != "" {
		subject += fmt.Sprintf(" %q", name)
	}
	return []expectation{hasNosniff, isForbidden(
		regexp.MustCompile(`^`+regexp.QuoteMeta(subject)+` is forbidden: User `+user+` `+
			regexp.QuoteMeta(fmt.Sprintf("cannot %s resource %q in API group %q %s", verb, what, group, where))+`(?s:: .*)?$`),
		metav1.StatusDetails{Name: name, Group: group, Kind: plural},
	)}
}

func checkWrongToken(ctx context.Context, s *session) error {
	for i, path := range []string{"/api/v1/secrets?limit=1", "/apis", "/api/v1/namespaces/" + s.absentNamespace() + "/secrets/a", "/conformance-no-such-path"} {
		r, err := s.do(ctx, get(path).withHeader("Authorization", "Bearer conformance-no-such-token"))
		switch {
		case err != nil:
			return err
		case i == 0 && r.code == http.StatusOK:
			return s.skipf("the server ignores a wrong token: it does not authenticate, or it accepts other credentials of the client")
		}
		if err := r.expect(failure{code: 401, reason: metav1.StatusReasonUnauthorized, message: "Unauthorized"}.check); err != nil {
			return err
		}
	}
	return nil
}

func checkAuditID(ctx context.Context, s *session) error {
	const id = "conformance-audit-id"
	for _, path := range []string{"/api/v1/namespaces", "/version", "/api/v1/namespaces/" + s.absentNamespace(), "/conformance-no-such-path"} {
		r, err := s.do(ctx, get(path))
		if err != nil {
			return err
		}
		if r.header.Get("Audit-Id") == "" {
			return r.errorf("expected an Audit-Id")
		}
		if r, err = s.do(ctx, get(path).withHeader("Audit-ID", id)); err != nil {
			return err
		}
		if got := r.header.Get("Audit-Id"); got != id {
			return r.errorf("expected the Audit-Id %s of the request, got %q", id, got)
		}
	}
	return nil
}

func checkImpersonationWithoutUser(ctx context.Context, s *session) error {
	for _, header := range []string{"Impersonate-Group", "Impersonate-Uid", "Impersonate-Extra-Scope"} {
		want := failure{code: 400, reason: metav1.StatusReasonBadRequest, contains: "without impersonating a user"}
		if err := s.expect(ctx, get("/api/v1/namespaces").withHeader(header, "conformance"), want.check, hasNosniff); err != nil {
			return err
		}
	}
	return nil
}
