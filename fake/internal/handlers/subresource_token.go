package handlers

import (
	"fmt"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/codec"
)

// The times of tokens (KEP-1205).
const (
	defaultTokenSeconds = int64(time.Hour / time.Second)
	minTokenSeconds     = int64(10 * time.Minute / time.Second)
	maxTokenSeconds     = int64(1) << 32
)

// tokenIssuer is who issues tokens, and whom they are for if a request does not say:
// what most clusters are set up with.
const tokenIssuer = "https://kubernetes.default.svc.cluster.local"

// issueToken makes a token for a service account. Nothing is kept of it.
func (a *API) issueToken(q *request) error {
	body := q.withBodyResource(q.sub.BodyResource())
	sent, admit, err := a.decodeTokenRequest(q, body)
	if err != nil {
		return err
	}
	account, err := getObject[*corev1.ServiceAccount](a, "serviceaccounts", q.namespace(), q.info.Name)
	if err != nil {
		return err
	}
	begin := a.Now()
	sent.Name, sent.Namespace = account.Name, account.Namespace
	sent.CreationTimestamp = metav1.NewTime(begin)
	sent.Status = authenticationv1.TokenRequestStatus{}
	if len(sent.Spec.Audiences) == 0 {
		sent.Spec.Audiences = []string{tokenIssuer}
	}
	if sent.Spec.ExpirationSeconds == nil {
		seconds := defaultTokenSeconds
		sent.Spec.ExpirationSeconds = &seconds
	}
	if err := validateExpiration(*sent.Spec.ExpirationSeconds); err != nil {
		return err
	}
	if err := admit.validate(sent, nil); err != nil {
		return err
	}
	lifetime := time.Duration(*sent.Spec.ExpirationSeconds) * time.Second
	claims := a.claims(account, begin, lifetime, sent.Spec.Audiences)
	if err := a.addBoundObject(sent.Spec.BoundObjectRef, account, &claims.Private); err != nil {
		return err
	}
	if sent.Status.Token, err = a.ids.signToken(claims); err != nil {
		return apierrors.NewInternalError(fmt.Errorf("failed to generate token: %w", err))
	}
	sent.Status.ExpirationTimestamp = metav1.NewTime(begin.Add(lifetime))
	return body.replyObject(http.StatusCreated, sent)
}

// decodeTokenRequest reads the request, whose name and namespace may be left out.
func (a *API) decodeTokenRequest(q, body *request) (*authenticationv1.TokenRequest, *admissionRunner, error) {
	_, obj, admit, err := a.decodePost(body)
	if err != nil {
		return nil, nil, err
	}
	sent := obj.(*authenticationv1.TokenRequest)
	if sent.Name != "" && sent.Name != q.info.Name {
		return nil, nil, apierrors.NewInvalid(body.res.GroupKind(), q.info.Name, field.ErrorList{field.Invalid(
			field.NewPath("metadata", "name"), sent.Name, "must match the service account name if specified")})
	}
	return sent, admit, nil
}

func validateExpiration(seconds int64) error {
	path := field.NewPath("spec", "expirationSeconds")
	var errs field.ErrorList
	if seconds < minTokenSeconds {
		errs = append(errs, field.Invalid(path, seconds, "may not specify a duration less than 10 minutes"))
	}
	if seconds > maxTokenSeconds {
		errs = append(errs, field.Invalid(path, seconds, "may not specify a duration larger than 2^32 seconds"))
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: authenticationv1.GroupName, Kind: "TokenRequest"}, "", errs)
}

// addBoundObject adds to the claims what a token is bound to, which must exist and, for a pod,
// run as the service account.
func (a *API) addBoundObject(ref *authenticationv1.BoundObjectReference, account *corev1.ServiceAccount, claims *privateClaims) error {
	if ref == nil {
		return nil
	}
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	var uid types.UID
	switch {
	case kind.Group == "" && kind.Kind == "Pod":
		pod, err := getObject[*corev1.Pod](a, "pods", account.Namespace, ref.Name)
		if err != nil {
			return err
		}
		if pod.Spec.ServiceAccountName != account.Name {
			return apierrors.NewBadRequest(fmt.Sprintf(
				"cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", account.Name))
		}
		uid, claims.Pod = pod.UID, &claimRef{pod.Name, pod.UID}
		if name := pod.Spec.NodeName; name != "" {
			claims.Node = &claimRef{Name: name}
			if node, err := getObject[*corev1.Node](a, "nodes", "", name); err == nil {
				claims.Node.UID = node.UID
			}
		}
	case kind.Group == "" && kind.Kind == "Node":
		node, err := getObject[*corev1.Node](a, "nodes", "", ref.Name)
		if err != nil {
			return err
		}
		uid, claims.Node = node.UID, &claimRef{node.Name, node.UID}
	case kind.Group == "" && kind.Kind == "Secret":
		secret, err := getObject[*corev1.Secret](a, "secrets", account.Namespace, ref.Name)
		if err != nil {
			return err
		}
		uid, claims.Secret = secret.UID, &claimRef{secret.Name, secret.UID}
	default:
		return apierrors.NewBadRequest("cannot bind token to object of type " + kind.String())
	}
	if ref.UID != "" && ref.UID != uid {
		return apierrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, ref.Name, fmt.Errorf(
			"the UID in the bound object reference (%s) does not match the UID in record. "+
				"The object might have been deleted and then recreated", ref.UID))
	}
	return nil
}

// getObject reads an object of the core group.
func getObject[T runtime.Object](a *API, plural, namespace, name string) (T, error) {
	var none T
	res := a.types.Table().Lookup("", "v1", plural)
	rec := a.store.View().Get(codec.Key(res, namespace, name))
	if rec == nil {
		return none, apierrors.NewNotFound(res.GroupResource(), name)
	}
	obj, err := a.objects.get(res, rec)
	if err != nil {
		return none, err
	}
	return obj.(T), nil
}
