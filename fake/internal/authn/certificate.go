package authn

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/utils/lru"
)

// credentialIDKey is the key of the extra field with the hash of the certificate.
const credentialIDKey = "authentication.kubernetes.io/credential-id"

// authenticateCertificate authenticates a client certificate. The TLS handshake accepts all
// certificates. Those of an unknown authority, expired ones and those for other purposes are
// rejected here (x509.go).
func (a *Authenticator) authenticateCertificate(r *http.Request) (authenticationv1.UserInfo, Result) {
	state := r.TLS
	if a.certificates == nil || state == nil || len(state.PeerCertificates) == 0 {
		return authenticationv1.UserInfo{}, Anonymous
	}
	if !a.certificates.verify(state.PeerCertificates) {
		return authenticationv1.UserInfo{}, Rejected
	}
	return certificateUser(state.PeerCertificates[0])
}

// certificateVerifier verifies client certificates. Clients send the same ones with all requests.
type certificateVerifier struct {
	roots *x509.CertPool
	// verified has the time at which a verified chain expires, by the hash of what the client sent.
	verified *lru.Cache
}

// maxVerified is the number of chains that a certificateVerifier keeps as verified.
const maxVerified = 256

func newCertificateVerifier(roots *x509.CertPool) *certificateVerifier {
	return &certificateVerifier{roots, lru.New(maxVerified)}
}

// verify reports whether the first certificate is a client certificate of one of the roots at the
// current time. The others are intermediate ones.
func (v *certificateVerifier) verify(sent []*x509.Certificate) bool {
	now, key := time.Now(), hashOf(sent)
	if expires, ok := v.verified.Get(key); ok && !now.After(expires.(time.Time)) {
		return true
	}
	intermediates := x509.NewCertPool()
	for _, c := range sent[1:] {
		intermediates.AddCert(c)
	}
	chains, err := sent[0].Verify(x509.VerifyOptions{
		Roots: v.roots, Intermediates: intermediates, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return false
	}
	expires := sent[0].NotAfter
	for _, c := range chains[0] {
		if c.NotAfter.Before(expires) {
			expires = c.NotAfter
		}
	}
	v.verified.Add(key, expires)
	return true
}

// hashOf returns a hash of certificates.
func hashOf(certificates []*x509.Certificate) (sum [sha256.Size]byte) {
	hash := sha256.New()
	for _, c := range certificates {
		hash.Write(c.Raw)
	}
	hash.Sum(sum[:0])
	return sum
}

// uidAttributeType is the type of the subject attribute with the uid of the user.
func uidAttributeType() asn1.ObjectIdentifier {
	return asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57683, 2}
}

// certificateUser returns the user of a certificate: the common name, with the organizations as
// groups. Without a common name the result is Anonymous.
func certificateUser(c *x509.Certificate) (authenticationv1.UserInfo, Result) {
	if c.Subject.CommonName == "" {
		return authenticationv1.UserInfo{}, Anonymous
	}
	hash := sha256.Sum256(c.Raw)
	user := authenticationv1.UserInfo{
		Username: c.Subject.CommonName,
		Groups:   c.Subject.Organization,
		Extra:    map[string]authenticationv1.ExtraValue{credentialIDKey: {"X509SHA256=" + hex.EncodeToString(hash[:])}},
	}
	uids := 0
	for _, name := range c.Subject.Names {
		if !name.Type.Equal(uidAttributeType()) {
			continue
		}
		uid, ok := name.Value.(string)
		if uids++; !ok || uid == "" || uids > 1 {
			return authenticationv1.UserInfo{}, Rejected
		}
		user.UID = uid
	}
	return withAuthenticatedGroup(user), Authenticated
}
