package reviews

import (
	"context"
	"errors"
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/serviceaccount"
)

// authenticate returns the status of a token review. Without audiences the token must be for this
// server. A token that was not issued for a service account is for this server. As on a real
// server, the token is what a request with it in the Authorization header would be authenticated
// by: spaces around it and text after it are ignored, and one that begins with a space is none.
func (r *Reviewer) authenticate(ctx context.Context, token string, audiences []string) authenticationv1.TokenReviewStatus {
	if len(audiences) == 0 {
		audiences = r.ServiceAccounts.Keys().Audiences
	}
	header := http.Header{"Authorization": {"Bearer " + token}}
	if token = authn.BearerToken(&http.Request{Header: header}); token == "" {
		if !r.AnonymousAuth {
			return authenticationv1.TokenReviewStatus{}
		}
		return authenticationv1.TokenReviewStatus{Authenticated: true, User: authn.AnonymousUser(), Audiences: audiences}
	}
	common := func(of []string) []string {
		return slices.DeleteFunc(slices.Clone(audiences), func(audience string) bool { return !slices.Contains(of, audience) })
	}
	found, cause := common(r.ServiceAccounts.Keys().Audiences), error(nil)
	authenticator := authn.New(r.Tokens, func(_ context.Context, token string) (authenticationv1.UserInfo, bool) {
		var claims serviceaccount.Claims
		if claims, cause = r.ServiceAccounts.Validate(token, audiences); cause != nil {
			return authenticationv1.UserInfo{}, false
		}
		found = common(claims.Audience)
		return claims.User(), true
	}, nil)
	user, ok := authenticator.AuthenticateToken(ctx, token)
	if !ok || len(found) == 0 {
		// The first error is that of the authenticator of the server's own token.
		errs := utilerrors.NewAggregate([]error{errors.New("invalid bearer token"), cause})
		return authenticationv1.TokenReviewStatus{Error: errs.Error()}
	}
	return authenticationv1.TokenReviewStatus{Authenticated: true, User: user, Audiences: found}
}
