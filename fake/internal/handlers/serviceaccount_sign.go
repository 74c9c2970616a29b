package handlers

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// claims are what the token of a service account says (RFC 7519, KEP-1205).
type claims struct {
	Audiences []string      `json:"aud"`
	Expires   int64         `json:"exp"`
	Issued    int64         `json:"iat"`
	Issuer    string        `json:"iss"`
	ID        types.UID     `json:"jti"`
	Private   privateClaims `json:"kubernetes.io"`
	NotBefore int64         `json:"nbf"`
	Subject   string        `json:"sub"`
}

type privateClaims struct {
	Namespace      string    `json:"namespace"`
	Node           *claimRef `json:"node,omitempty"`
	Pod            *claimRef `json:"pod,omitempty"`
	Secret         *claimRef `json:"secret,omitempty"`
	ServiceAccount claimRef  `json:"serviceaccount"`
}

type claimRef struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid,omitempty"`
}

func (a *API) claims(account *corev1.ServiceAccount, begin time.Time, lifetime time.Duration, audiences []string) claims {
	return claims{
		Audiences: audiences,
		Expires:   begin.Add(lifetime).Unix(),
		Issued:    begin.Unix(),
		Issuer:    tokenIssuer,
		ID:        a.ids.UID(),
		NotBefore: begin.Unix(),
		Subject:   "system:serviceaccount:" + account.Namespace + ":" + account.Name,
		Private: privateClaims{
			Namespace:      account.Namespace,
			ServiceAccount: claimRef{account.Name, account.UID},
		},
	}
}

// tokenKey is the key that signs tokens. It comes from the seed; one in 2^32 seeds
// gives none.
func (ids *IDs) tokenKey() (*ecdsa.PrivateKey, error) {
	seed := sha256.Sum256(append([]byte("service account tokens"), ids.seed[:]...))
	return ecdsa.ParseRawPrivateKey(elliptic.P256(), seed[:])
}

// signToken makes a token of claims (ES256, RFC 7518); the same claims give the same token.
func (ids *IDs) signToken(c claims) (string, error) {
	key, err := ids.tokenKey()
	if err != nil {
		return "", err
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		return "", err
	}
	keyID := sha256.Sum256(point)
	header, err := json.Marshal(map[string]string{"alg": "ES256", "kid": base64.RawURLEncoding.EncodeToString(keyID[:])})
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(payload)
	digest := sha256.Sum256([]byte(text))
	der, err := key.Sign(nil, digest[:], crypto.SHA256) // without randomness (RFC 6979)
	if err != nil {
		return "", err
	}
	var pair struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &pair); err != nil {
		return "", err
	}
	signature := make([]byte, 64)
	pair.R.FillBytes(signature[:32])
	pair.S.FillBytes(signature[32:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}
