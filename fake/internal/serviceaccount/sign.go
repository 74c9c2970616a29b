package serviceaccount

import (
	"crypto"
	"io"

	"gopkg.in/go-jose/go-jose.v2"
	"gopkg.in/go-jose/go-jose.v2/cryptosigner"
	"gopkg.in/go-jose/go-jose.v2/jwt"
)

// sign returns the token of claims. The same claims have the same token.
func (k *Keys) sign(public jwt.Claims, private privateClaims) (string, error) {
	keys, err := k.load()
	if err != nil {
		return "", err
	}
	return jwt.Signed(keys.signer).Claims(public).Claims(private).CompactSerialize()
}

// newSigner returns the signer of tokens with a private key, and the public key.
func newSigner(key crypto.Signer) (jose.Signer, jose.JSONWebKey, error) {
	public, err := newPublicKey(key.Public())
	if err != nil {
		return nil, public, err
	}
	signer, err := jose.NewSigner(jose.SigningKey{
		Algorithm: jose.SignatureAlgorithm(public.Algorithm),
		Key:       jose.JSONWebKey{Key: cryptosigner.Opaque(deterministicSigner{key}), KeyID: public.KeyID},
	}, nil)
	return signer, public, err
}

// deterministicSigner has the same signature for the same digest (RFC 6979, RFC 8017).
type deterministicSigner struct{ crypto.Signer }

// Sign implements crypto.Signer without a source of randomness.
func (s deterministicSigner) Sign(_ io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	return s.Signer.Sign(nil, digest, opts)
}
