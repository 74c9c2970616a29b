package handlers

import (
	"errors"
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/resource"
)

// postHandler finds what a POST does to a row whose objects are not kept.
func postHandler(res *resource.Resource) handlerFunc {
	switch res.New().(type) {
	case *authorizationv1.SubjectAccessReview:
		return reviewHandler((*API).reviewAccess)
	case *authorizationv1.LocalSubjectAccessReview:
		return reviewHandler((*API).reviewLocalAccess)
	case *authorizationv1.SelfSubjectAccessReview:
		return reviewHandler((*API).reviewSelfAccess)
	case *authorizationv1.SelfSubjectRulesReview:
		return reviewHandler((*API).reviewSelfRules)
	case *authenticationv1.TokenReview:
		return reviewHandler((*API).reviewToken)
	case *authenticationv1.SelfSubjectReview:
		return reviewHandler((*API).reviewSelf)
	}
	return (*API).bind
}

// reviewFunc answers a question that was posted. allow asks the admission plugins about it, once
// it is known to be well formed.
type reviewFunc[T runtime.Object] func(a *API, q *request, sent T, allow func() error) (T, error)

// reviewHandler makes a verb of a review: the answer is the question with a status, and nothing
// is stored (VR-01).
func reviewHandler[T runtime.Object](review reviewFunc[T]) handlerFunc {
	return func(a *API, q *request) error {
		_, obj, admit, err := a.decodePost(q)
		if err != nil {
			return err
		}
		sent := obj.(T)
		answer, err := review(a, q, sent, func() error { return admit.validate(sent, nil) })
		if err != nil {
			return err
		}
		return q.replyObject(http.StatusCreated, answer)
	}
}

// authorizer is whom to ask.
func (a *API) authorizer() authz.Authorizer {
	if a.settings.Authorizer == nil {
		return authz.AlwaysAllow()
	}
	return a.settings.Authorizer
}

// authorize asks about an action, and gives the status of the review.
func (a *API) authorize(attributes authz.Attributes) authorizationv1.SubjectAccessReviewStatus {
	d := a.authorizer().Authorize(attributes)
	return authorizationv1.SubjectAccessReviewStatus{
		Allowed: d.Allowed(), Denied: d.Denied(), Reason: d.Reason(),
		EvaluationError: evaluationError(d.Err(), attributes),
	}
}

func (a *API) reviewAccess(_ *request, r *authorizationv1.SubjectAccessReview, allow func() error) (*authorizationv1.SubjectAccessReview, error) {
	errs := append(validateSubject(&r.Spec), validateEmptyMetadata(&r.ObjectMeta, "must be empty")...)
	if err := invalidReview(errs); err != nil {
		return nil, err
	}
	if err := allow(); err != nil {
		return nil, err
	}
	r.Status = a.authorize(subjectAttributes(&r.Spec))
	return r, nil
}

func (a *API) reviewLocalAccess(_ *request, r *authorizationv1.LocalSubjectAccessReview, allow func() error) (*authorizationv1.LocalSubjectAccessReview, error) {
	if err := invalidReview(validateLocalSubject(r)); err != nil {
		return nil, err
	}
	if err := allow(); err != nil {
		return nil, err
	}
	r.Status = a.authorize(subjectAttributes(&r.Spec))
	return r, nil
}

func (a *API) reviewSelfAccess(q *request, r *authorizationv1.SelfSubjectAccessReview, allow func() error) (*authorizationv1.SelfSubjectAccessReview, error) {
	errs := validateAttributes(r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes)
	errs = append(errs, validateEmptyMetadata(&r.ObjectMeta, "must be empty")...)
	if err := invalidReview(errs); err != nil {
		return nil, err
	}
	if err := allow(); err != nil {
		return nil, err
	}
	r.Status = a.authorize(actionAttributes(authn.UserFrom(q.r.Context()), r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes))
	return r, nil
}

// reviewSelfRules answers with the status alone, as a real server does.
func (a *API) reviewSelfRules(q *request, r *authorizationv1.SelfSubjectRulesReview, allow func() error) (*authorizationv1.SelfSubjectRulesReview, error) {
	if r.Spec.Namespace == "" {
		return nil, apierrors.NewBadRequest("no namespace on request")
	}
	if err := allow(); err != nil {
		return nil, err
	}
	return &authorizationv1.SelfSubjectRulesReview{
		Status: a.authorizer().Rules(authn.UserFrom(q.r.Context()), r.Spec.Namespace),
	}, nil
}

func (a *API) reviewSelf(q *request, _ *authenticationv1.SelfSubjectReview, allow func() error) (*authenticationv1.SelfSubjectReview, error) {
	if err := allow(); err != nil {
		return nil, err
	}
	return &authenticationv1.SelfSubjectReview{
		ObjectMeta: metav1.ObjectMeta{CreationTimestamp: a.now()},
		Status:     authenticationv1.SelfSubjectReviewStatus{UserInfo: authn.UserFrom(q.r.Context())},
	}, nil
}

// reviewToken tells whose a bearer token is, if it is for one of the audiences asked for:
// this server, if there are none.
func (a *API) reviewToken(_ *request, r *authenticationv1.TokenReview, allow func() error) (*authenticationv1.TokenReview, error) {
	if r.Spec.Token == "" {
		return nil, apierrors.NewBadRequest("token is required for TokenReview in authentication")
	}
	if err := allow(); err != nil {
		return nil, err
	}
	audiences := r.Spec.Audiences
	if len(audiences) == 0 {
		audiences = []string{tokenIssuer}
	}
	r.Status = authenticationv1.TokenReviewStatus{}
	user, found, err := a.tokenUser(r.Spec.Token, audiences)
	if err != nil {
		r.Status.Error = err.Error()
		return r, nil
	}
	r.Status.Authenticated, r.Status.User, r.Status.Audiences = true, user, found
	return r, nil
}

// errInvalidToken is what is said of a token that is not valid.
var errInvalidToken = errors.New("invalid bearer token")

// tokenUser finds whose a token is, and those of the audiences that it is for. A token that
// was not issued for a service account is for this server.
func (a *API) tokenUser(token string, audiences []string) (user authenticationv1.UserInfo, found []string, err error) {
	intersect := func(has []string) []string {
		return slices.DeleteFunc(slices.Clone(audiences), func(one string) bool { return !slices.Contains(has, one) })
	}
	authenticator := authn.Authenticator{Tokens: a.settings.Tokens, ServiceAccounts: func(token string) (authenticationv1.UserInfo, bool) {
		c, ok := a.validClaims(token)
		found = intersect(c.Audiences)
		return c.user(), ok
	}}
	user, ok := authenticator.AuthenticateToken(token)
	if ok && found == nil {
		found = intersect([]string{tokenIssuer})
	}
	if !ok || len(found) == 0 {
		return authenticationv1.UserInfo{}, nil, errInvalidToken
	}
	return user, found, nil
}
