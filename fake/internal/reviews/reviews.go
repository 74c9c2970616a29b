// Package reviews answers the reviews of the groups authorization.k8s.io and authentication.k8s.io,
// which are created and not stored (VR-01).
package reviews

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/clock"
	"example.com/fakeapi/fake/internal/serviceaccount"
)

// Reviewer answers reviews. Its fields must not be changed after the first one.
type Reviewer struct {
	// Authorizer decides access reviews; nil allows everything.
	Authorizer authz.Authorizer
	// Tokens and ServiceAccounts authenticate the tokens of token reviews.
	Tokens          *authn.Tokens
	ServiceAccounts *serviceaccount.Tokens
	// AnonymousAuth is whether requests without a token are those of system:anonymous.
	AnonymousAuth bool
	// Clock is the clock of the API server.
	Clock *clock.Clock
}

// IsReview reports whether obj is a review.
func IsReview(obj runtime.Object) bool {
	switch obj.(type) {
	case *authorizationv1.SubjectAccessReview, *authorizationv1.LocalSubjectAccessReview,
		*authorizationv1.SelfSubjectAccessReview, *authorizationv1.SelfSubjectRulesReview,
		*authenticationv1.TokenReview, *authenticationv1.SelfSubjectReview:
		return true
	}
	return false
}

// Review returns the review with its status. The user of the request is in ctx. admit runs
// admission; it is called when the review is known to be valid.
func (r *Reviewer) Review(ctx context.Context, review runtime.Object, admit func() error) (runtime.Object, error) {
	if err := validateReview(review); err != nil {
		return nil, err
	}
	if err := admit(); err != nil {
		return nil, err
	}
	user := authn.UserFrom(ctx)
	switch review := review.(type) {
	case *authorizationv1.SubjectAccessReview:
		review.Status = r.authorize(ctx, subjectAttributes(&review.Spec))
		return review, nil
	case *authorizationv1.LocalSubjectAccessReview:
		review.Status = r.authorize(ctx, subjectAttributes(&review.Spec))
		return review, nil
	case *authorizationv1.SelfSubjectAccessReview:
		review.Status = r.authorize(ctx, attributes(authn.NewInfo(user), review.Spec.ResourceAttributes, review.Spec.NonResourceAttributes))
		return review, nil
	case *authorizationv1.SelfSubjectRulesReview: // a real server returns the status only
		return &authorizationv1.SelfSubjectRulesReview{Status: r.authorizer().Rules(ctx, authn.NewInfo(user), review.Spec.Namespace)}, nil
	case *authenticationv1.TokenReview:
		review.Status = r.authenticate(ctx, review.Spec.Token, review.Spec.Audiences)
		return review, nil
	case *authenticationv1.SelfSubjectReview:
		return &authenticationv1.SelfSubjectReview{
			ObjectMeta: metav1.ObjectMeta{CreationTimestamp: r.Clock.Timestamp()},
			Status:     authenticationv1.SelfSubjectReviewStatus{UserInfo: user},
		}, nil
	}
	return nil, fmt.Errorf("%T is not a review", review)
}

// validateReview validates a review before admission (VR-04).
func validateReview(review runtime.Object) error {
	switch review := review.(type) {
	case *authorizationv1.SubjectAccessReview:
		return invalid(append(validateSubject(&review.Spec), validateEmptyMetadata(&review.ObjectMeta, "must be empty")...))
	case *authorizationv1.LocalSubjectAccessReview:
		return invalid(validateLocalSubject(review))
	case *authorizationv1.SelfSubjectAccessReview:
		errs := validateAttributes(review.Spec.ResourceAttributes, review.Spec.NonResourceAttributes)
		return invalid(append(errs, validateEmptyMetadata(&review.ObjectMeta, "must be empty")...))
	case *authorizationv1.SelfSubjectRulesReview:
		if review.Spec.Namespace == "" {
			return apierrors.NewBadRequest("no namespace on request")
		}
	case *authenticationv1.TokenReview:
		if review.Spec.Token == "" {
			return apierrors.NewBadRequest("token is required for TokenReview in authentication")
		}
	}
	return nil
}
