package serviceaccount

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/token/jwt"
	"k8s.io/apiserver/pkg/warning"
)

// clockSkew is how long a token is valid after its expiration, and a bound object after its
// deletion.
const clockSkew = time.Minute

// User returns the user of a valid token for this server, and whether it is one. ctx is that of the
// request, whose audit event and warnings tell of a token that should not be used any more.
func (t *Tokens) User(ctx context.Context, token string) (authenticationv1.UserInfo, bool) {
	c, err := t.Validate(token, t.keys.Audiences)
	if err != nil {
		return authenticationv1.UserInfo{}, false
	}
	audit.AddAuditAnnotations(ctx, c.annotations...)
	if c.warning != "" {
		warning.AddWarning(ctx, "", c.warning)
	}
	return c.User(), true
}

// Validate returns the claims of a valid token: it has the signature of an accepted key, is for one
// of the audiences and has not expired, and its service account and bound object exist. A token
// that is for no audience is for this server. Otherwise the error is that of kube-apiserver.
func (t *Tokens) Validate(token string, audiences []string) (Claims, error) {
	c, err := t.parse(token)
	if err != nil {
		return Claims{}, err
	}
	if len(c.Audience) == 0 {
		c.annotate("legacy-token", c.Subject)
		c.Audience = t.keys.Audiences
	}
	if !slices.ContainsFunc(c.Audience, func(a string) bool { return slices.Contains(audiences, a) }) {
		return Claims{}, fmt.Errorf("token audiences %q is invalid for the target audiences %q", c.Audience, audiences)
	}
	var errs []error
	if c.Issuer == legacyIssuer {
		legacy, err := t.validateLegacy(token, c)
		if err == nil {
			return legacy, nil
		}
		errs = append(errs, err)
	}
	if slices.Contains(t.keys.Issuers, c.Issuer) {
		err := t.validateBound(&c)
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
	}
	return Claims{}, utilerrors.NewAggregate(errs)
}

// validateBound returns an error unless a token with the claims c is valid now and the objects that
// it was issued for exist.
func (t *Tokens) validateBound(c *Claims) error {
	now := t.now()
	if err := c.checkTime(now); err != nil {
		return err
	}
	if err := t.checkObjects(c.Kubernetes, now); err != nil {
		return err
	}
	c.annotateStale(now)
	return nil
}

// checkTime returns an error unless the token is valid at a time. All of its times are optional.
func (c *Claims) checkTime(now time.Time) error {
	switch {
	case c.NotBefore != nil && now.Add(clockSkew).Before(c.NotBefore.Time()):
		return errors.New("service account token is not valid yet")
	case c.Expiry != nil && now.Add(-clockSkew).After(c.Expiry.Time()):
		return errors.New("service account token has expired")
	case c.IssuedAt != nil && now.Add(clockSkew).Before(c.IssuedAt.Time()):
		return errors.New("service account token is issued in the future")
	}
	return nil
}

// annotateStale adds the annotation of a stale token: an extended one that the client should have
// replaced.
func (c *Claims) annotateStale(now time.Time) {
	if c.Kubernetes.WarnAfter == nil || *c.Kubernetes.WarnAfter == 0 {
		return
	}
	if late := now.Sub(c.Kubernetes.WarnAfter.Time()); late > 0 {
		c.annotate("stale-token", fmt.Sprintf("subject: %s, seconds after warning threshold: %d", c.Subject, late/time.Second))
	}
}

// checkObjects returns an error unless the objects that a token was issued for exist. The node
// counts only if the token is not bound to a pod.
func (t *Tokens) checkObjects(c kubernetes, now time.Time) error {
	account, err := getObject[*corev1.ServiceAccount](t, "serviceaccounts", c.Namespace, c.ServiceAccount.Name)
	switch {
	case err != nil:
		return err
	case string(account.UID) != c.ServiceAccount.UID:
		return fmt.Errorf("service account UID (%s) does not match claim (%s)", account.UID, c.ServiceAccount.UID)
	case isDeleted(account, now):
		return fmt.Errorf("service account %s/%s has been deleted", c.Namespace, c.ServiceAccount.Name)
	}
	if c.Secret != nil {
		secret, err := getObject[*corev1.Secret](t, "secrets", c.Namespace, c.Secret.Name)
		if err := checkBound("secret", c.Secret, secret, err, now); err != nil {
			return err
		}
	}
	switch {
	case c.Pod != nil:
		pod, err := getObject[*corev1.Pod](t, "pods", c.Namespace, c.Pod.Name)
		return checkBound("pod", c.Pod, pod, err, now)
	case c.Node != nil:
		node, err := getObject[*corev1.Node](t, "nodes", "", c.Node.Name)
		return checkBound("node", c.Node, node, err, now)
	}
	return nil
}

// checkBound returns an error unless obj is the object of a kind that a token is bound to. err is
// the error of the look-up of obj.
func checkBound(kind string, bound *ref, obj metav1.Object, err error, now time.Time) error {
	switch {
	case err == nil && string(obj.GetUID()) != bound.UID:
		return fmt.Errorf("%s UID (%s) does not match service account %s ref claim (%s)", kind, obj.GetUID(), kind, bound.UID)
	case err != nil || isDeleted(obj, now):
		return errors.New("service account token has been invalidated")
	}
	return nil
}

// isDeleted reports whether the deletion of obj is long ago.
func isDeleted(obj metav1.Object, now time.Time) bool {
	deleted := obj.GetDeletionTimestamp()
	return deleted != nil && deleted.Time.Before(now.Add(-clockSkew))
}

// credentialID returns the ID of the token as a credential, "" if it has none.
func (c *Claims) credentialID() string { return jwt.CredentialIDForJTI(c.ID) }

// CredentialID returns the ID as a credential of a token that Issue has returned.
func (t *Tokens) CredentialID(token string) string {
	c, _ := t.parse(token)
	return c.credentialID()
}

// User returns the user of the token.
func (c *Claims) User() authenticationv1.UserInfo {
	account := c.Kubernetes.ServiceAccount
	info := serviceaccount.ServiceAccountInfo{
		Namespace: c.Kubernetes.Namespace, Name: account.Name, UID: account.UID, CredentialID: c.credentialID(),
	}
	if pod := c.Kubernetes.Pod; pod != nil {
		info.PodName, info.PodUID = pod.Name, pod.UID
	}
	if node := c.Kubernetes.Node; node != nil {
		info.NodeName, info.NodeUID = node.Name, node.UID
	}
	u := info.UserInfo()
	extra := make(map[string]authenticationv1.ExtraValue, len(u.GetExtra()))
	for key, values := range u.GetExtra() {
		extra[key] = values
	}
	return authenticationv1.UserInfo{Username: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: extra}
}
