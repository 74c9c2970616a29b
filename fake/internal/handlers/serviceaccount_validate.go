package handlers

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// clockSkew is for how long a token is taken after it has expired, and an object for there
// after its deletion: the clocks of a cluster do not agree.
const clockSkew = time.Minute

// ServiceAccountUser tells which service account a token is for: one that this server has
// issued, for itself, that has not expired, and whose account and bound object are still
// the ones of then (KEP-1205).
func (a *API) ServiceAccountUser(token string) (authenticationv1.UserInfo, bool) {
	c, ok := a.validClaims(token)
	if !ok || !slices.Contains(c.Audiences, tokenIssuer) {
		return authenticationv1.UserInfo{}, false
	}
	return c.user(), true
}

// validClaims gives what a token says that is valid, whomever it is for.
func (a *API) validClaims(token string) (claims, bool) {
	c, ok := a.ids.parseToken(token)
	now := time.Now()
	if !ok || now.Add(-clockSkew).Unix() > c.Expires || now.Add(clockSkew).Unix() < c.NotBefore || !a.boundObjectsExist(c.Private, now) {
		return claims{}, false
	}
	return c, true
}

// parseToken reads a token that sign has made.
func (ids *IDs) parseToken(token string) (c claims, ok bool) {
	parts := strings.SplitN(token, ".", 4)
	if len(parts) != 3 {
		return c, false
	}
	rs, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(rs) != 64 {
		return c, false
	}
	key, err := ids.tokenKey()
	if err != nil {
		return c, false
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(&key.PublicKey, digest[:], new(big.Int).SetBytes(rs[:32]), new(big.Int).SetBytes(rs[32:])) {
		return c, false
	}
	decoded, err := base64.RawURLEncoding.DecodeString(parts[1])
	return c, err == nil && json.Unmarshal(decoded, &c) == nil
}

// boundObjectsExist reports whether all is still there that a token was issued for. A node is
// asked for only if no pod stands between.
func (a *API) boundObjectsExist(c privateClaims, now time.Time) bool {
	account, err := getObject[*corev1.ServiceAccount](a, "serviceaccounts", c.Namespace, c.ServiceAccount.Name)
	if err != nil || !isSameObject(account, c.ServiceAccount.UID, now) {
		return false
	}
	switch {
	case c.Secret != nil:
		secret, err := getObject[*corev1.Secret](a, "secrets", c.Namespace, c.Secret.Name)
		return err == nil && isSameObject(secret, c.Secret.UID, now)
	case c.Pod != nil:
		pod, err := getObject[*corev1.Pod](a, "pods", c.Namespace, c.Pod.Name)
		return err == nil && isSameObject(pod, c.Pod.UID, now)
	case c.Node != nil:
		node, err := getObject[*corev1.Node](a, "nodes", "", c.Node.Name)
		return err == nil && isSameObject(node, c.Node.UID, now)
	}
	return true
}

// isSameObject reports whether an object is the one of then, and not long deleted.
func isSameObject(obj metav1.Object, uid types.UID, now time.Time) bool {
	deleted := obj.GetDeletionTimestamp()
	return obj.GetUID() == uid && (deleted == nil || !deleted.Time.Before(now.Add(-clockSkew)))
}

// The names of what the token of a service account tells besides the account.
const (
	credentialExtra = "authentication.kubernetes.io/credential-id"
	podExtra        = "authentication.kubernetes.io/pod-"
	nodeExtra       = "authentication.kubernetes.io/node-"
)

// user is who a token is for.
func (c *claims) user() authenticationv1.UserInfo {
	extra := map[string]authenticationv1.ExtraValue{credentialExtra: {"JTI=" + string(c.ID)}}
	for prefix, ref := range map[string]*claimRef{podExtra: c.Private.Pod, nodeExtra: c.Private.Node} {
		if ref == nil {
			continue
		}
		extra[prefix+"name"] = authenticationv1.ExtraValue{ref.Name}
		if ref.UID != "" {
			extra[prefix+"uid"] = authenticationv1.ExtraValue{string(ref.UID)}
		}
	}
	return authenticationv1.UserInfo{
		Username: c.Subject,
		UID:      string(c.Private.ServiceAccount.UID),
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + c.Private.Namespace},
		Extra:    extra,
	}
}
