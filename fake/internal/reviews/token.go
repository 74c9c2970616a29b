package reviews

import (
	"context"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"

	"example.com/fakeapi/fake/internal/authn"
)

// authenticate returns the status of a token review. Without audiences the token must be for this
// server. A token that was not issued for a service account is for this server.
func (r *Reviewer) authenticate(ctx context.Context, token string, audiences []string) authenticationv1.TokenReviewStatus {
	if len(audiences) == 0 {
		audiences = r.ServiceAccounts.Keys().Audiences
	}
	common := func(of []string) []string {
		return slices.DeleteFunc(slices.Clone(audiences), func(audience string) bool { return !slices.Contains(of, audience) })
	}
	var found []string
	authenticator := authn.New(r.Tokens, func(ctx context.Context, token string) (authenticationv1.UserInfo, bool) {
		claims, ok := r.ServiceAccounts.Validate(token)
		if found = common(claims.Audiences); ok && len(found) > 0 {
			r.ServiceAccounts.AuditStale(ctx, claims)
		}
		return claims.User(), ok
	}, nil)
	user, ok := authenticator.AuthenticateToken(ctx, token)
	if ok && found == nil {
		found = common(r.ServiceAccounts.Keys().Audiences)
	}
	if !ok || len(found) == 0 {
		return authenticationv1.TokenReviewStatus{Error: "invalid bearer token"}
	}
	return authenticationv1.TokenReviewStatus{Authenticated: true, User: user, Audiences: found}
}
