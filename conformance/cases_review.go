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

// review is a kind of question.
type review struct {
	groupVersion, plural, kind string
	namespaced                 bool
}

var (
	accessReview      = review{authorizationV1, "subjectaccessreviews", "SubjectAccessReview", false}
	localAccessReview = review{authorizationV1, "localsubjectaccessreviews", "LocalSubjectAccessReview", true}
	ownAccessReview   = review{authorizationV1, "selfsubjectaccessreviews", "SelfSubjectAccessReview", false}
	ownRulesReview    = review{authorizationV1, "selfsubjectrulesreviews", "SelfSubjectRulesReview", false}
	tokenReview       = review{authenticationV1, "tokenreviews", "TokenReview", false}
	selfReview        = review{authenticationV1, "selfsubjectreviews", "SelfSubjectReview", false}
)

// path is where to post it.
func (r review) path() string {
	if r.namespaced {
		return "/apis/" + r.groupVersion + "/namespaces/default/" + r.plural
	}
	return "/apis/" + r.groupVersion + "/" + r.plural
}

// ask posts it with a spec.
func (r review) ask(spec object) call {
	body := newObject(r.groupVersion, r.kind, "")
	if spec != nil {
		body["spec"] = spec
	}
	return post(r.path(), body)
}

// answered expects it with a status.
func (r review) answered(a *answer) error {
	return a.meets(code(201), kind(r.groupVersion, r.kind))
}

// masters are a user who may do everything on any server.
func masters(action object) object {
	return object{"user": "conformance", "groups": []string{"system:masters"}, "resourceAttributes": action}
}

// reviewCases are about virtual resources: questions that are answered and not kept (VR).
func reviewCases() []Case {
	about := func(r review, c Case, check checkFunc) Case {
		c.Level = Must
		if c.Source = docReviews; r.groupVersion == authenticationV1 {
			c.Source = docTokenReviews
		}
		c.check = func(ctx context.Context, s *session) error {
			if err := s.needs(ctx, r.groupVersion, r.plural); err != nil {
				return err
			}
			return check(ctx, s)
		}
		return c
	}
	everything := object{"namespace": "default", "verb": "delete", "resource": "pods"}
	cases := []Case{
		about(accessReview, Case{ID: "VR-01/access", Title: "a SubjectAccessReview says what a user may do", Why: "other servers let the API server decide"},
			func(ctx context.Context, s *session) error {
				return s.try(ctx, accessReview.ask(masters(everything)), accessReview.answered, value(true, "status", "allowed"), field("delete", "spec", "resourceAttributes", "verb"))
			}),
		about(localAccessReview, Case{ID: "VR-01/local", Title: "a LocalSubjectAccessReview says what a user may do in its namespace", Why: "the right to ask can be granted there"},
			func(ctx context.Context, s *session) error {
				return s.try(ctx, localAccessReview.ask(masters(everything)), localAccessReview.answered, value(true, "status", "allowed"))
			}),
		about(ownAccessReview, Case{ID: "VR-01/own", Title: "a SelfSubjectAccessReview says what the client may do", Why: "kubectl auth can-i asks it"},
			func(ctx context.Context, s *session) error {
				ask := ownAccessReview.ask(object{"resourceAttributes": object{"verb": "create", "resource": "namespaces"}})
				return s.try(ctx, ask, ownAccessReview.answered, value(true, "status", "allowed"))
			}),
		about(ownRulesReview, Case{ID: "VR-01/rules", Title: "a SelfSubjectRulesReview lists what the client may do", Why: "kubectl auth can-i --list asks it"},
			func(ctx context.Context, s *session) error {
				return s.try(ctx, ownRulesReview.ask(object{"namespace": "default"}), ownRulesReview.answered,
					present("status", "resourceRules"), present("status", "nonResourceRules"), present("status", "incomplete"))
			}),
		about(tokenReview, Case{ID: "VR-01/token", Title: "a TokenReview of a wrong token says so", Why: "other servers authenticate with it"},
			func(ctx context.Context, s *session) error {
				return s.try(ctx, tokenReview.ask(object{"token": "conformance-no-such-token"}), tokenReview.answered,
					present("status"), value(nil, "status", "authenticated"))
			}),
		about(selfReview, Case{ID: "VR-01/self", Title: "a SelfSubjectReview says who the client is", Why: "kubectl auth whoami asks it"},
			func(ctx context.Context, s *session) error {
				return s.try(ctx, selfReview.ask(nil), selfReview.answered, present("status", "userInfo", "username"))
			}),
		about(localAccessReview, Case{ID: "VR-03", Title: "the namespace of a LocalSubjectAccessReview is that of its path", Why: "the right to ask is one for the namespace"},
			func(ctx context.Context, s *session) error {
				other := localAccessReview.ask(masters(object{"namespace": "kube-system", "verb": "get", "resource": "pods"}))
				other.body.(object).meta("namespace", "kube-system")
				return s.try(ctx, other, refusal{code: 400, reason: metav1.StatusReasonBadRequest}.check)
			}),
		about(accessReview, Case{ID: "VR-04/access", Title: "a review of nobody, or of nothing, is refused", Why: "the answer would be about something else"},
			func(ctx context.Context, s *session) error {
				user := metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.user", Message: "at least one of user or group must be specified"}
				return s.try(ctx, accessReview.ask(object{"resourceAttributes": everything}), unfit(user))
			}),
		about(ownAccessReview, Case{ID: "VR-04/either", Title: "a review is of a resource or of a path, and not of both", Why: "the answer could be to either"},
			func(ctx context.Context, s *session) error {
				both := object{"resourceAttributes": everything, "nonResourceAttributes": object{"path": "/metrics", "verb": "get"}}
				for _, spec := range []object{both, {}} {
					if err := s.try(ctx, ownAccessReview.ask(spec), refusal{code: 422, reason: metav1.StatusReasonInvalid}.check); err != nil {
						return err
					}
				}
				return nil
			}),
		about(localAccessReview, Case{ID: "VR-04/local", Title: "a LocalSubjectAccessReview is of its namespace", Why: "the right to ask is one for the namespace"},
			func(ctx context.Context, s *session) error {
				other := localAccessReview.ask(masters(object{"namespace": "kube-system", "verb": "get", "resource": "pods"}))
				cause := metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.resourceAttributes.namespace", Message: "must match metadata.namespace"}
				return s.try(ctx, other, unfit(cause))
			}),
		about(tokenReview, Case{ID: "VR-04/token", Title: "a TokenReview of no token is refused", Why: "it is no question"},
			func(ctx context.Context, s *session) error {
				want := refusal{code: 400, reason: metav1.StatusReasonBadRequest, message: "token is required for TokenReview in authentication"}
				return s.try(ctx, tokenReview.ask(object{}), want.check)
			}),
		about(accessReview, Case{ID: "VR-05/access", Title: "the status that a review is sent with is ignored", Why: "whoever passes the answer on must be able to trust it"},
			func(ctx context.Context, s *session) error {
				forged := accessReview.ask(masters(everything))
				forged.body.(object)["status"] = object{"allowed": false, "reason": "forged", "evaluationError": "forged"}
				return s.try(ctx, forged, accessReview.answered, value(true, "status", "allowed"), lacks("forged"))
			}),
		about(tokenReview, Case{ID: "VR-05/token", Title: "the status that a TokenReview is sent with does not authenticate anybody", Why: "whoever passes the answer on must be able to trust it"},
			func(ctx context.Context, s *session) error {
				forged := tokenReview.ask(object{"token": "conformance-no-such-token"})
				forged.body.(object)["status"] = object{"authenticated": true}
				return s.try(ctx, forged, tokenReview.answered, value(nil, "status", "authenticated"))
			}),
	}
	for _, r := range []review{accessReview, localAccessReview, ownAccessReview, ownRulesReview, tokenReview, selfReview} {
		cases = append(cases, about(r, Case{
			ID: "VR-02/" + r.plural, Title: fmt.Sprintf("%s can be created, and nothing else", r.plural), Why: "nothing is stored that could be read",
		}, r.createOnly))
	}
	return cases
}

// lacks expects that a text is not in the status.
func lacks(text string) expectation {
	return func(a *answer) error {
		var got struct{ Status json.RawMessage }
		if err := a.decode(&got); err != nil {
			return err
		}
		if strings.Contains(string(got.Status), text) {
			return fmt.Errorf("expected a status of the server's own, without %q, got %s", text, got.Status)
		}
		return nil
	}
}

// unfit expects the refusal of a review for just these causes.
func unfit(causes ...metav1.StatusCause) expectation {
	return refusal{code: 422, reason: metav1.StatusReasonInvalid, causes: causes}.check
}

// createOnly is the check that there is only where to post to.
func (r review) createOnly(ctx context.Context, s *session) error {
	found, err := s.resource(ctx, r.groupVersion, r.plural)
	if err != nil {
		return err
	}
	if found.Kind != r.kind || found.Namespaced != r.namespaced || !slices.Equal(found.Verbs, metav1.Verbs{"create"}) {
		return fmt.Errorf("GET /apis/%s: expected a %s with the verb create only, got %v", r.groupVersion, r.kind, found)
	}
	for _, one := range []call{get(r.path()), get(r.path() + "?watch=1&timeoutSeconds=1"), del(r.path()), put(r.path(), newObject(r.groupVersion, r.kind, ""))} {
		if err := s.try(ctx, one, notAllowed.check); err != nil {
			return err
		}
	}
	return nil
}
