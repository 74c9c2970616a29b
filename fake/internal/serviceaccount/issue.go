// Package serviceaccount issues and validates the tokens of service accounts (KEP-1205). Tokens are
// not stored: a valid signature and the objects that a token is bound to make it valid. It also
// validates tokens that tests have stored in Secrets (legacy.go).
package serviceaccount

import (
	"fmt"
	"slices"
	"time"

	"gopkg.in/go-jose/go-jose.v2/jwt"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/utils/lru"

	"example.com/fakeapi/fake/internal/ids"
	"example.com/fakeapi/fake/internal/status"
)

// The lifetimes of tokens in seconds.
const (
	minSeconds = int64(10 * time.Minute / time.Second)
	maxSeconds = int64(1) << 32

	// A token of a pod that is requested for transitionSeconds, as those in the volumes of the
	// admission plugin ServiceAccount are, is valid for extendedSeconds. After the requested time it
	// is stale, which the audit log shows.
	transitionSeconds = int64(time.Hour/time.Second) + 7
	extendedSeconds   = jwt.NumericDate(365 * 24 * time.Hour / time.Second)
)

// Tokens issues and validates tokens. It is safe for concurrent use.
type Tokens struct {
	ids          *ids.Generator
	get          Getter
	changeSecret ChangeSecret
	keys         *Keys
	now          func() time.Time
	// parsed has the claims of tokens with a valid signature, which clients send with all requests.
	parsed *lru.Cache
}

// The number and the size in bytes of the tokens whose claims a Tokens keeps.
const (
	maxParsed     = 256
	maxParsedSize = 4 << 10
)

// Getter returns an object of the core group, or NotFound. resource is the plural, such as "pods".
type Getter func(resource, namespace, name string) (runtime.Object, error)

// New returns a Tokens with keys. g generates the ids of tokens, and now is the clock of the
// server.
func New(g *ids.Generator, keys *Keys, now func() time.Time, get Getter, changeSecret ChangeSecret) *Tokens {
	return &Tokens{ids: g, get: get, changeSecret: changeSecret, keys: keys, now: now, parsed: lru.New(maxParsed)}
}

// Keys returns the keys.
func (t *Tokens) Keys() *Keys { return t.keys }

// getObject calls the Getter of t, which returns the type of resource.
func getObject[T runtime.Object](t *Tokens, resource, namespace, name string) (T, error) {
	obj, err := t.get(resource, namespace, name)
	if err != nil {
		var none T
		return none, err
	}
	return obj.(T), nil
}

// SetDefaultAudiences sets the audiences of a request that has none.
func (t *Tokens) SetDefaultAudiences(spec *authenticationv1.TokenRequestSpec) {
	if len(spec.Audiences) == 0 {
		spec.Audiences = slices.Clone(t.keys.Audiences)
	}
}

// Shorten limits the lifetime of a valid request to MaxExpiration. It returns the requested one and
// the limit in seconds, and whether the request is shortened.
func (t *Tokens) Shorten(spec *authenticationv1.TokenRequestSpec) (requested, maximum int64, isShortened bool) {
	requested, maximum = *spec.ExpirationSeconds, int64(t.keys.MaxExpiration/time.Second)
	if maximum == 0 || requested <= maximum {
		return requested, maximum, false
	}
	spec.ExpirationSeconds = &maximum
	return requested, maximum, true
}

// ValidateRequest validates a request, which has audiences and a lifetime.
func ValidateRequest(spec *authenticationv1.TokenRequestSpec) error {
	root, seconds := field.NewPath("spec"), *spec.ExpirationSeconds
	path := root.Child("expirationSeconds")
	var errs field.ErrorList
	if seconds < minSeconds {
		errs = append(errs, field.Invalid(path, seconds, "may not specify a duration less than 10 minutes"))
	}
	if seconds > maxSeconds {
		errs = append(errs, field.Invalid(path, seconds, "may not specify a duration larger than 2^32 seconds"))
	}
	switch {
	case isWebhookConfiguration(spec.BoundObjectRef):
		errs = append(errs, validateWebhookRequest(spec, root)...)
	case len(spec.Attestations) > 0: // the only error that is returned
		errs = field.ErrorList{field.Invalid(root.Child("attestations"), spec.Attestations,
			"attestations may only be specified with a webhook bound object reference")}
	}
	return status.Invalid(schema.GroupKind{Group: authenticationv1.GroupName, Kind: "TokenRequest"}, "", errs)
}

// Issue returns a token for account. now is the time of the API server. SetDefaultAudiences and
// ValidateRequest must have been called for spec.
func (t *Tokens) Issue(account *corev1.ServiceAccount, spec *authenticationv1.TokenRequestSpec, now time.Time) (*authenticationv1.TokenRequestStatus, error) {
	expires := now.Add(time.Duration(*spec.ExpirationSeconds) * time.Second)
	issued, expiry := jwt.NewNumericDate(now), jwt.NewNumericDate(expires)
	public := jwt.Claims{
		Audience:  spec.Audiences,
		Expiry:    expiry,
		IssuedAt:  issued,
		Issuer:    t.keys.Issuers[0],
		ID:        string(t.ids.UID()),
		NotBefore: issued,
		Subject:   serviceaccount.MakeUsername(account.Namespace, account.Name),
	}
	private := kubernetes{Namespace: account.Namespace, ServiceAccount: ref{account.Name, string(account.UID)}}
	if err := t.bind(&private, spec.BoundObjectRef, account); err != nil {
		return nil, err
	}
	if t.isExtended(private.Pod, spec) {
		extended := *issued + extendedSeconds
		private.WarnAfter, public.Expiry = expiry, &extended
	}
	token, err := t.keys.sign(public, privateClaims{private})
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("failed to generate token: %w", err))
	}
	return &authenticationv1.TokenRequestStatus{Token: token, ExpirationTimestamp: metav1.NewTime(expires)}, nil
}

// isExtended reports whether a token is valid for longer than its request says: one of a pod, which
// may be nil, for this server alone.
func (t *Tokens) isExtended(pod *ref, spec *authenticationv1.TokenRequestSpec) bool {
	return pod != nil && *spec.ExpirationSeconds == transitionSeconds && !t.keys.ExactExpiration &&
		!slices.ContainsFunc(spec.Audiences, func(a string) bool { return !slices.Contains(t.keys.Audiences, a) })
}

// bind adds the bound object of a request to the claims. It must exist and, if it is a pod, run as
// the service account. to may be nil.
func (t *Tokens) bind(c *kubernetes, to *authenticationv1.BoundObjectReference, account *corev1.ServiceAccount) error {
	if to == nil {
		return nil
	}
	kind := schema.FromAPIVersionAndKind(to.APIVersion, to.Kind)
	var uid types.UID
	switch {
	case kind.Group == "" && kind.Kind == "Pod":
		pod, err := getObject[*corev1.Pod](t, "pods", account.Namespace, to.Name)
		if err != nil {
			return err
		}
		if pod.Spec.ServiceAccountName != account.Name {
			return apierrors.NewBadRequest(fmt.Sprintf(
				"cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", account.Name))
		}
		uid, c.Pod = pod.UID, &ref{pod.Name, string(pod.UID)}
		if name := pod.Spec.NodeName; name != "" {
			c.Node = &ref{Name: name}
			if node, err := getObject[*corev1.Node](t, "nodes", "", name); err == nil {
				c.Node.UID = string(node.UID)
			}
		}
	case kind.Group == "" && kind.Kind == "Node":
		node, err := getObject[*corev1.Node](t, "nodes", "", to.Name)
		if err != nil {
			return err
		}
		uid, c.Node = node.UID, &ref{node.Name, string(node.UID)}
	case kind.Group == "" && kind.Kind == "Secret":
		secret, err := getObject[*corev1.Secret](t, "secrets", account.Namespace, to.Name)
		if err != nil {
			return err
		}
		uid, c.Secret = secret.UID, &ref{secret.Name, string(secret.UID)}
	case isWebhookConfiguration(to):
		return apierrors.NewBadRequest(fmt.Sprintf(
			"cannot bind token to object of type %s (feature gate APIServerWebhookAuthenticationToken is disabled)", kind))
	default:
		return apierrors.NewBadRequest("cannot bind token to object of type " + kind.String())
	}
	if to.UID != "" && to.UID != uid {
		return status.BoundObjectMismatch(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, to.Name, to.UID)
	}
	return nil
}
