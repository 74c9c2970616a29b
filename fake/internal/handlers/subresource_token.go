package handlers

import (
	"context"
	"fmt"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/audit"
	serviceaccounts "k8s.io/apiserver/pkg/authentication/serviceaccount"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/serviceaccount"
	"example.com/fakeapi/fake/internal/status"
)

// createToken issues a token for a service account. It is not stored.
func (a *API) createToken(q *request) error {
	body := q.withBodyResource(q.sub.BodyResource())
	_, obj, admission, err := a.decodePost(body)
	if err != nil {
		return err
	}
	tokenRequest := obj.(*authenticationv1.TokenRequest)
	if tokenRequest.Name != "" && tokenRequest.Name != q.info.Name {
		return status.Invalid(body.res.GroupKind(), q.info.Name, field.ErrorList{field.Invalid(
			field.NewPath("metadata", "name"), tokenRequest.Name, "must match the service account name if specified")})
	}
	obj, err = a.getCore("serviceaccounts", q.namespace(), q.info.Name)
	if err != nil {
		return err
	}
	account := obj.(*corev1.ServiceAccount)
	if tokenRequest.UID != "" && tokenRequest.UID != account.UID {
		return status.ServiceAccountMismatch(account.Name, tokenRequest.UID, account.UID)
	}
	now := a.clock.Now()
	tokenRequest.Name, tokenRequest.Namespace, tokenRequest.UID = account.Name, account.Namespace, account.UID
	tokenRequest.CreationTimestamp = metav1.NewTime(now)
	tokenRequest.Status = authenticationv1.TokenRequestStatus{}
	a.tokens.SetDefaultAudiences(&tokenRequest.Spec)
	if err := serviceaccount.ValidateRequest(&tokenRequest.Spec); err != nil {
		return err
	}
	if err := admission.validate(tokenRequest, nil); err != nil {
		return err
	}
	requested, maximum, isShortened := a.tokens.Shorten(&tokenRequest.Spec)
	issued, err := a.tokens.Issue(account, &tokenRequest.Spec, now)
	if err != nil {
		return err
	}
	if isShortened {
		q.AddWarning("", fmt.Sprintf("requested expiration of %d seconds shortened to %d seconds", requested, maximum))
	}
	tokenRequest.Status = *issued
	audit.AddAuditAnnotation(q.r.Context(), serviceaccounts.IssuedCredentialIDAuditAnnotationKey, a.tokens.CredentialID(issued.Token))
	return body.replyObject(http.StatusCreated, tokenRequest)
}

// IssueToken returns a token for a service account, for this server and valid for lifetime, as a
// TokenRequest without audiences and bound object does. It returns a NotFound if there is no such
// account.
func (a *API) IssueToken(namespace, name string, lifetime time.Duration) (string, error) {
	obj, err := a.getCore("serviceaccounts", namespace, name)
	if err != nil {
		return "", err
	}
	seconds := int64((lifetime + time.Second - 1) / time.Second)
	spec := authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}
	a.tokens.SetDefaultAudiences(&spec)
	issued, err := a.tokens.Issue(obj.(*corev1.ServiceAccount), &spec, a.clock.Now())
	if err != nil {
		return "", err
	}
	return issued.Token, nil
}

// changeSecret changes a Secret, unless it was deleted or replaced, as a request of the API server
// itself does.
func (a *API) changeSecret(secret *corev1.Secret, change func(*corev1.Secret)) error {
	res := a.types.Table().Lookup("", "v1", "secrets")
	return a.ChangeByServer(context.Background(), res, codec.Key(res, secret.Namespace, secret.Name), string(secret.UID), "",
		func(obj runtime.Object) { change(obj.(*corev1.Secret)) })
}
