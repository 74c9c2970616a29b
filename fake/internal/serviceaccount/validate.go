package serviceaccount

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/audit"
)

// clockSkew is how long a token is valid after its expiration, and a bound object after its
// deletion.
const clockSkew = time.Minute

// HasIssuer reports whether a token claims to have been issued by an API server for a service account
// of its cluster. The token may be invalid.
func (k *Keys) HasIssuer(token string) bool {
	_, rest, found := strings.Cut(token, ".")
	if !found {
		return false
	}
	text, _, _ := strings.Cut(rest, ".")
	var claims struct {
		Issuer string `json:"iss"`
	}
	return decodePart(text, &claims) && slices.Contains(k.Issuers, claims.Issuer)
}

// User returns the user of a valid token for this server, and whether it is one. ctx is that of the
// request, for AuditStale.
func (t *Tokens) User(ctx context.Context, token string) (authenticationv1.UserInfo, bool) {
	c, ok := t.Validate(token)
	if !ok || !slices.ContainsFunc(c.Audiences, func(a string) bool { return slices.Contains(t.keys.Audiences, a) }) {
		return authenticationv1.UserInfo{}, false
	}
	t.AuditStale(ctx, c)
	return c.User(), true
}

// AuditStale adds to the audit event of a request that it has a stale token: an extended one that the
// client should have replaced.
func (t *Tokens) AuditStale(ctx context.Context, c Claims) {
	if c.Private.WarnAfter == 0 {
		return
	}
	if late := t.now().Sub(time.Unix(c.Private.WarnAfter, 0)); late > 0 {
		audit.AddAuditAnnotation(ctx, "authentication.k8s.io/stale-token",
			fmt.Sprintf("subject: %s, seconds after warning threshold: %d", c.Subject, late/time.Second))
	}
}

// Validate returns the claims of a token for any audience, and whether it is valid: it has
// the signature of an accepted key and has not expired, and its service account and bound object exist.
func (t *Tokens) Validate(token string) (Claims, bool) {
	c, ok := t.parse(token)
	now := t.now()
	if !ok || now.Add(-clockSkew).Unix() > c.Expires || now.Add(clockSkew).Unix() < c.NotBefore || !t.boundObjectsExist(c.Private, now) {
		return Claims{}, false
	}
	return c, true
}

// boundObjectsExist reports whether the objects that a token was issued for exist. The node counts
// only if the token is not bound to a pod.
func (t *Tokens) boundObjectsExist(c privateClaims, now time.Time) bool {
	account, err := getObject[*corev1.ServiceAccount](t, "serviceaccounts", c.Namespace, c.ServiceAccount.Name)
	if err != nil || !isSameObject(account, c.ServiceAccount.UID, now) {
		return false
	}
	switch {
	case c.Secret != nil:
		secret, err := getObject[*corev1.Secret](t, "secrets", c.Namespace, c.Secret.Name)
		return err == nil && isSameObject(secret, c.Secret.UID, now)
	case c.Pod != nil:
		pod, err := getObject[*corev1.Pod](t, "pods", c.Namespace, c.Pod.Name)
		return err == nil && isSameObject(pod, c.Pod.UID, now)
	case c.Node != nil:
		node, err := getObject[*corev1.Node](t, "nodes", "", c.Node.Name)
		return err == nil && isSameObject(node, c.Node.UID, now)
	}
	return true
}

// isSameObject reports whether obj has the uid and its deletion is not long ago.
func isSameObject(obj metav1.Object, uid types.UID, now time.Time) bool {
	deleted := obj.GetDeletionTimestamp()
	return obj.GetUID() == uid && (deleted == nil || !deleted.Time.Before(now.Add(-clockSkew)))
}

// The keys of the extra fields of a token's user.
const (
	credentialExtra = "authentication.kubernetes.io/credential-id"
	podExtra        = "authentication.kubernetes.io/pod-"
	nodeExtra       = "authentication.kubernetes.io/node-"
)

// credentialID returns the ID of the token as a credential.
func (c *Claims) credentialID() string { return "JTI=" + string(c.ID) }

// CredentialID returns the ID as a credential of a token that Issue has returned.
func (t *Tokens) CredentialID(token string) string {
	c, _ := t.parse(token)
	return c.credentialID()
}

// User returns the user of the token.
func (c *Claims) User() authenticationv1.UserInfo {
	extra := map[string]authenticationv1.ExtraValue{credentialExtra: {c.credentialID()}}
	for prefix, ref := range map[string]*objectRef{podExtra: c.Private.Pod, nodeExtra: c.Private.Node} {
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
