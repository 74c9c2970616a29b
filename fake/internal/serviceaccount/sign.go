package serviceaccount

import (
	"crypto"
	"crypto/ecdsa"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"math/big"
)

// sign returns the token of c (RFC 7515, RFC 7518). The same claims have the same token.
func (k *Keys) sign(c Claims) (string, error) {
	keys, err := k.load()
	if err != nil {
		return "", err
	}
	header, err := json.Marshal(joseHeader{Algorithm: keys.signing.algorithm, KeyID: keys.signing.id})
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	text := encodeParts(header, payload)
	signature, err := keys.signing.sign(keys.signer, text)
	if err != nil {
		return "", err
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// sign returns the signature of a text by signer, whose public key is k.
func (k publicKey) sign(signer crypto.Signer, text string) ([]byte, error) {
	hash, _ := hashOf(k.algorithm)                                 // known, see algorithmOf
	signature, err := signer.Sign(nil, digestOf(hash, text), hash) // deterministic (RFC 6979, RFC 8017)
	public, ok := k.key.(*ecdsa.PublicKey)
	if err != nil || !ok {
		return signature, err
	}
	var pair struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(signature, &pair); err != nil {
		return nil, err
	}
	size := (public.Curve.Params().BitSize + 7) / 8
	signature = make([]byte, 2*size)
	pair.R.FillBytes(signature[:size])
	pair.S.FillBytes(signature[size:])
	return signature, nil
}
