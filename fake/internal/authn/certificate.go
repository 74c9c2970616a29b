package authn

import (
	"crypto/sha256"
	"crypto/x509"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	x509request "k8s.io/apiserver/pkg/authentication/request/x509"
	"k8s.io/utils/lru"
)

// authenticateCertificate authenticates a client certificate. The TLS handshake accepts all
// certificates. Those of an unknown authority, expired ones and those for other purposes are
// rejected here.
func (a *Authenticator) authenticateCertificate(r *http.Request) (authenticationv1.UserInfo, Result) {
	state := r.TLS
	if a.certificates == nil || state == nil || len(state.PeerCertificates) == 0 {
		return authenticationv1.UserInfo{}, Anonymous
	}
	if !a.certificates.verify(state.PeerCertificates) {
		return authenticationv1.UserInfo{}, Rejected
	}
	return resultOf(x509request.CommonNameUserConversion.User(state.PeerCertificates))
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
