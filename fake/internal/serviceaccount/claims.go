package serviceaccount

import "gopkg.in/go-jose/go-jose.v2/jwt"

// Claims is the content of a token (RFC 7519, KEP-1205).
type Claims struct {
	jwt.Claims
	privateClaims
	legacyPrivateClaims

	// annotations are those of the audit event of a request with the token: keys, each before its
	// value. warning is that of the response, "" for none.
	annotations []string
	warning     string
}

// annotate adds an annotation.
func (c *Claims) annotate(key, value string) {
	c.annotations = append(c.annotations, "authentication.k8s.io/"+key, value)
}

// privateClaims are those of a token that is bound to an object, or to none.
type privateClaims struct {
	Kubernetes kubernetes `json:"kubernetes.io"`
}

// kubernetes has the names of the objects of a token.
type kubernetes struct {
	Namespace      string `json:"namespace"`
	Node           *ref   `json:"node,omitempty"`
	Pod            *ref   `json:"pod,omitempty"`
	Secret         *ref   `json:"secret,omitempty"`
	ServiceAccount ref    `json:"serviceaccount"`
	// WarnAfter is the time after which the token is stale, nil if it is not extended.
	WarnAfter *jwt.NumericDate `json:"warnafter,omitempty"`
}

// ref is a reference to an object.
type ref struct {
	Name string `json:"name"`
	UID  string `json:"uid,omitempty"`
}

// legacyPrivateClaims are the private claims of a token in a Secret.
type legacyPrivateClaims struct {
	ServiceAccountName string `json:"kubernetes.io/serviceaccount/service-account.name,omitempty"`
	ServiceAccountUID  string `json:"kubernetes.io/serviceaccount/service-account.uid,omitempty"`
	SecretName         string `json:"kubernetes.io/serviceaccount/secret.name,omitempty"`
	Namespace          string `json:"kubernetes.io/serviceaccount/namespace,omitempty"`
}
