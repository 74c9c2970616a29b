package authn

import (
	"encoding/base64"
	"net/http"
	"strings"
	"unicode/utf8"

	authenticationv1 "k8s.io/api/authentication/v1"

	"example.com/fakeapi/internal/requestinfo"
)

const (
	protocolHeader = "Sec-Websocket-Protocol"
	// bearerProtocol is the prefix of a subprotocol with a bearer token.
	bearerProtocol = "base64url.bearer.authorization.k8s.io."
)

// authenticateWebSocket authenticates the token in a subprotocol of a WebSocket, as browsers send it.
// If it is valid, it is removed from the header. The client needs another subprotocol, which the
// server can confirm.
func (a *Authenticator) authenticateWebSocket(r *http.Request) (authenticationv1.UserInfo, Result) {
	if !requestinfo.IsWebSocket(r) {
		return authenticationv1.UserInfo{}, Anonymous
	}
	var tokens, others []string
	for _, protocol := range strings.Split(strings.Join(r.Header[protocolHeader], ","), ",") {
		protocol = strings.TrimSpace(protocol)
		if token, ok := strings.CutPrefix(protocol, bearerProtocol); ok {
			tokens = append(tokens, token)
		} else {
			others = append(others, protocol)
		}
	}
	if len(tokens) == 0 {
		return authenticationv1.UserInfo{}, Anonymous
	}
	token, err := base64.RawURLEncoding.DecodeString(tokens[0])
	switch {
	case len(tokens) > 1 || err != nil || !utf8.Valid(token) || len(token) > 0 && len(others) == 0:
		return authenticationv1.UserInfo{}, Rejected
	case len(token) == 0:
		return authenticationv1.UserInfo{}, Anonymous
	}
	user, ok := a.AuthenticateToken(r.Context(), string(token))
	if !ok {
		return authenticationv1.UserInfo{}, Rejected
	}
	r.Header.Set(protocolHeader, strings.Join(others, ","))
	return user, Authenticated
}
