package serviceaccount

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	kjson "sigs.k8s.io/json"
)

// Claims is the content of a token (RFC 7519, KEP-1205).
type Claims struct {
	Audiences audiences    `json:"aud"`
	Expires   *numericDate `json:"exp"`
	Issued    *numericDate `json:"iat"`
	Issuer    string       `json:"iss"`
	ID        string       `json:"jti"`
	Private   kubernetes   `json:"kubernetes.io"`
	NotBefore *numericDate `json:"nbf"`
	Subject   string       `json:"sub"`
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

// kubernetes has the private claims of a token that is bound to an object, or to none.
type kubernetes struct {
	Namespace      string `json:"namespace"`
	Node           *ref   `json:"node,omitempty"`
	Pod            *ref   `json:"pod,omitempty"`
	Secret         *ref   `json:"secret,omitempty"`
	ServiceAccount ref    `json:"serviceaccount"`
	// WarnAfter is the time after which the token is stale, nil if it is not extended.
	WarnAfter *numericDate `json:"warnafter,omitempty"`
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

// audiences is a list that may be encoded as a single string (RFC 7519, section 4.1.3).
type audiences []string

// UnmarshalJSON implements json.Unmarshaler.
func (a *audiences) UnmarshalJSON(text []byte) error {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	*a = make(audiences, len(list))
	for i, element := range list {
		if (*a)[i], ok = element.(string); !ok {
			return errors.New("go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience")
		}
	}
	return nil
}

// numericDate is a time in seconds, which may be encoded with a fraction (RFC 7519, section 2).
type numericDate int64

// UnmarshalJSON implements json.Unmarshaler.
func (d *numericDate) UnmarshalJSON(text []byte) error {
	seconds, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return errors.New("go-jose/go-jose/jwt: expected number value to unmarshal NumericDate")
	}
	*d = numericDate(seconds)
	return nil
}

func (d numericDate) time() time.Time { return time.Unix(int64(d), 0) }

// decodeJOSE decodes a JSON object of a token as the library of kube-apiserver does: names are
// case-sensitive and unique, and an error does not name the field.
func decodeJOSE(text []byte, into any) error {
	duplicates, err := kjson.UnmarshalStrict(text, into, kjson.DisallowDuplicateFields)
	if mismatch := (*json.UnmarshalTypeError)(nil); errors.As(err, &mismatch) {
		return fmt.Errorf("json: cannot unmarshal %s into Go value of type %s", mismatch.Value, mismatch.Type)
	}
	if duplicate := (kjson.FieldError)(nil); len(duplicates) > 0 && errors.As(duplicates[0], &duplicate) {
		return fmt.Errorf("json: duplicate key '%s' in object", duplicate.FieldPath())
	}
	return err
}
