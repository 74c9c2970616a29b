package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	authorizationV1  = "authorization.k8s.io/v1"
	authenticationV1 = "authentication.k8s.io/v1"
	docReviews       = "Authorization overview, API access; k/k registry/authorization"
	docTokenReviews  = "Authenticating; k/k registry/authentication"
)

// review is a virtual resource, for example SubjectAccessReview.
type review struct {
	groupVersion, plural, kind string
	namespaced                 bool
}

var (
	accessReview      = review{authorizationV1, "subjectaccessreviews", "SubjectAccessReview", false}
	localAccessReview = review{authorizationV1, "localsubjectaccessreviews", "LocalSubjectAccessReview", true}
	selfAccessReview  = review{authorizationV1, "selfsubjectaccessreviews", "SelfSubjectAccessReview", false}
	selfRulesReview   = review{authorizationV1, "selfsubjectrulesreviews", "SelfSubjectRulesReview", false}
	tokenReview       = review{authenticationV1, "tokenreviews", "TokenReview", false}
	selfSubjectReview = review{authenticationV1, "selfsubjectreviews", "SelfSubjectReview", false}
)

// path returns the path of POST requests.
func (r review) path() string {
	if r.namespaced {
		return "/apis/" + r.groupVersion + "/namespaces/default/" + r.plural
	}
	return "/apis/" + r.groupVersion + "/" + r.plural
}

// create returns a request to create a review.
func (r review) create(spec object) call {
	body := newObject(r.groupVersion, r.kind, "")
	if spec != nil {
		body["spec"] = spec
	}
	return post(r.path(), body)
}

// isCreated expects a created review with a status.
func (r review) isCreated(resp *response) error {
	return resp.expect(code(201), kind(r.groupVersion, r.kind))
}

// adminReviewSpec is about a user with all rights on any server.
func adminReviewSpec(action object) object {
	return object{"user": "conformance", "groups": []string{"system:masters"}, "resourceAttributes": action}
}

// reviewCases returns the cases about virtual resources, which are not stored (VR).
func reviewCases() []Case {
	about := func(r review, c Case, check checkFunc) Case {
		c.Level = Must
		if c.Source = docReviews; r.groupVersion == authenticationV1 {
			c.Source = docTokenReviews
		}
		c.check = func(ctx context.Context, s *session) error {
			if err := s.skipUnlessServed(ctx, r.groupVersion, r.plural); err != nil {
				return err
			}
			return check(ctx, s)
		}
		return c
	}
	everything := object{"namespace": "default", "verb": "delete", "resource": "pods"}
	cases := []Case{
		about(accessReview, Case{ID: "VR-01/access", Title: "a SubjectAccessReview returns whether a user has access", Why: "other servers delegate authorization to the API server"},
			func(ctx context.Context, s *session) error {
				return s.expect(ctx, accessReview.create(adminReviewSpec(everything)), accessReview.isCreated, value(true, "status", "allowed"), field("delete", "spec", "resourceAttributes", "verb"))
			}),
		about(localAccessReview, Case{ID: "VR-01/local", Title: "a LocalSubjectAccessReview returns whether a user has access in its namespace", Why: "permission to review can be granted per namespace"},
			func(ctx context.Context, s *session) error {
				return s.expect(ctx, localAccessReview.create(adminReviewSpec(everything)), localAccessReview.isCreated, value(true, "status", "allowed"))
			}),
		about(selfAccessReview, Case{ID: "VR-01/own", Title: "a SelfSubjectAccessReview returns whether the client has access", Why: "kubectl auth can-i uses it"},
			func(ctx context.Context, s *session) error {
				review := selfAccessReview.create(object{"resourceAttributes": object{"verb": "create", "resource": "namespaces"}})
				return s.expect(ctx, review, selfAccessReview.isCreated, value(true, "status", "allowed"))
			}),
		about(selfRulesReview, Case{ID: "VR-01/rules", Title: "a SelfSubjectRulesReview lists the permissions of the client", Why: "kubectl auth can-i --list uses it"},
			func(ctx context.Context, s *session) error {
				return s.expect(ctx, selfRulesReview.create(object{"namespace": "default"}), selfRulesReview.isCreated,
					hasField("status", "resourceRules"), hasField("status", "nonResourceRules"), hasField("status", "incomplete"))
			}),
		about(tokenReview, Case{ID: "VR-01/token", Title: "a TokenReview of an invalid token is not authenticated", Why: "other servers authenticate with it"},
			func(ctx context.Context, s *session) error {
				return s.expect(ctx, tokenReview.create(object{"token": "conformance-no-such-token"}), tokenReview.isCreated,
					hasField("status"), value(nil, "status", "authenticated"))
			}),
		about(selfSubjectReview, Case{ID: "VR-01/self", Title: "a SelfSubjectReview returns the user of the client", Why: "kubectl auth whoami uses it"},
			func(ctx context.Context, s *session) error {
				return s.expect(ctx, selfSubjectReview.create(nil), selfSubjectReview.isCreated, hasField("status", "userInfo", "username"))
			}),
		about(localAccessReview, Case{ID: "VR-03", Title: "the namespace of a LocalSubjectAccessReview must be that of its path", Why: "permission to review applies to the namespace of the path"},
			func(ctx context.Context, s *session) error {
				other := localAccessReview.create(adminReviewSpec(object{"namespace": "kube-system", "verb": "get", "resource": "pods"}))
				other.body.(object).withMeta("namespace", "kube-system")
				return s.expect(ctx, other, failure{code: 400, reason: metav1.StatusReasonBadRequest}.check)
			}),
		about(accessReview, Case{ID: "VR-04/access", Title: "a review without a user or an action is rejected", Why: "the result would be meaningless"},
			func(ctx context.Context, s *session) error {
				user := metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.user", Message: "at least one of user or group must be specified"}
				return s.expect(ctx, accessReview.create(object{"resourceAttributes": everything}), isInvalidReview(user))
			}),
		about(selfAccessReview, Case{ID: "VR-04/either", Title: "a review is of a resource or of a path, not of both", Why: "the result would be ambiguous"},
			func(ctx context.Context, s *session) error {
				both := object{"resourceAttributes": everything, "nonResourceAttributes": object{"path": "/metrics", "verb": "get"}}
				for _, spec := range []object{both, {}} {
					if err := s.expect(ctx, selfAccessReview.create(spec), failure{code: 422, reason: metav1.StatusReasonInvalid}.check); err != nil {
						return err
					}
				}
				return nil
			}),
		about(localAccessReview, Case{ID: "VR-04/local", Title: "the resource of a LocalSubjectAccessReview must be in its namespace", Why: "permission to review applies to one namespace"},
			func(ctx context.Context, s *session) error {
				other := localAccessReview.create(adminReviewSpec(object{"namespace": "kube-system", "verb": "get", "resource": "pods"}))
				cause := metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.resourceAttributes.namespace", Message: "must match metadata.namespace"}
				return s.expect(ctx, other, isInvalidReview(cause))
			}),
		about(tokenReview, Case{ID: "VR-04/token", Title: "a TokenReview without a token is rejected", Why: "the result would be meaningless"},
			func(ctx context.Context, s *session) error {
				want := failure{code: 400, reason: metav1.StatusReasonBadRequest, message: "token is required for TokenReview in authentication"}
				return s.expect(ctx, tokenReview.create(object{}), want.check)
			}),
		about(accessReview, Case{ID: "VR-05/access", Title: "the status of a review request is ignored", Why: "clients trust the status in the response"},
			func(ctx context.Context, s *session) error {
				forged := accessReview.create(adminReviewSpec(everything))
				forged.body.(object)["status"] = object{"allowed": false, "reason": "forged", "evaluationError": "forged"}
				return s.expect(ctx, forged, accessReview.isCreated, value(true, "status", "allowed"), statusLacks("forged"))
			}),
		about(tokenReview, Case{ID: "VR-05/token", Title: "the status of a TokenReview request is ignored", Why: "clients trust the status in the response"},
			func(ctx context.Context, s *session) error {
				forged := tokenReview.create(object{"token": "conformance-no-such-token"})
				forged.body.(object)["status"] = object{"authenticated": true}
				return s.expect(ctx, forged, tokenReview.isCreated, value(nil, "status", "authenticated"))
			}),
	}
	for _, r := range []review{accessReview, localAccessReview, selfAccessReview, selfRulesReview, tokenReview, selfSubjectReview} {
		cases = append(cases, about(r, Case{
			ID: "VR-02/" + r.plural, Title: fmt.Sprintf("%s support create only", r.plural), Why: "reviews are not stored",
		}, r.checkCreateOnly))
	}
	return cases
}

// statusLacks expects a status without a text.
func statusLacks(text string) expectation {
	return func(r *response) error {
		var got struct{ Status json.RawMessage }
		if err := r.decode(&got); err != nil {
			return err
		}
		if strings.Contains(string(got.Status), text) {
			return fmt.Errorf("expected a status from the server, without %q, got %s", text, got.Status)
		}
		return nil
	}
}

// isInvalidReview expects that a review is rejected with exactly these causes.
func isInvalidReview(causes ...metav1.StatusCause) expectation {
	return failure{code: 422, reason: metav1.StatusReasonInvalid, causes: causes}.check
}

// checkCreateOnly checks that create is the only verb of the resource.
func (r review) checkCreateOnly(ctx context.Context, s *session) error {
	found, err := s.discoverResource(ctx, r.groupVersion, r.plural)
	if err != nil {
		return err
	}
	if found.Kind != r.kind || found.Namespaced != r.namespaced || !slices.Equal(found.Verbs, metav1.Verbs{"create"}) {
		return fmt.Errorf("GET /apis/%s: expected a %s with the verb create only, got %v", r.groupVersion, r.kind, found)
	}
	for _, one := range []call{get(r.path()), get(r.path() + "?watch=1&timeoutSeconds=1"), del(r.path()), put(r.path(), newObject(r.groupVersion, r.kind, ""))} {
		if err := s.expect(ctx, one, methodNotAllowed.check); err != nil {
			return err
		}
	}
	return nil
}
