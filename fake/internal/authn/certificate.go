package authn

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// credentialIDKey is the key of the extra field with the hash of the certificate.
const credentialIDKey = "authentication.kubernetes.io/credential-id"

// authenticateCertificate authenticates a client certificate. The TLS handshake accepts all
// certificates. Those of an unknown authority, expired ones and those for other purposes are
// rejected here (x509.go).
func (a *Authenticator) authenticateCertificate(state *tls.ConnectionState) (authenticationv1.UserInfo, Result) {
	if a.ClientCAs == nil || state == nil || len(state.PeerCertificates) == 0 {
		return authenticationv1.UserInfo{}, Anonymous
	}
	cert := state.PeerCertificates[0]
	intermediates := x509.NewCertPool()
	for _, c := range state.PeerCertificates[1:] {
		intermediates.AddCert(c)
	}
	if _, err := cert.Verify(x509.VerifyOptions{
		Roots: a.ClientCAs, Intermediates: intermediates, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}); err != nil {
		return authenticationv1.UserInfo{}, Rejected
	}
	return certificateUser(cert)
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
