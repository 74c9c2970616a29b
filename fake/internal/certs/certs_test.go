package certs_test

import (
	"crypto/x509"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/fake/internal/certs"
)

// verify verifies a certificate of issuer as a client does that trusts another authority.
func verify(t *testing.T, trusted, issuer *certs.Authority, host string, at time.Time) error {
	t.Helper()
	issued, err := issuer.IssueServer("localhost", "127.0.0.1", "::1")
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(issued.Certificate[0])
	require.NoError(t, err)
	_, err = leaf.Verify(x509.VerifyOptions{Roots: trusted.CertPool(), DNSName: host, CurrentTime: at})
	return err
}

// Certificates are valid for their hosts only, for clients that trust the authority only, in real
// and virtual time, and for years.
func TestCertificates(t *testing.T) {
	check := func(t *testing.T) {
		a, err := certs.NewAuthority()
		require.NoError(t, err)
		for _, host := range []string{"localhost", "127.0.0.1", "[::1]"} {
			require.NoError(t, verify(t, a, a, host, time.Now()))
			require.NoError(t, verify(t, a, a, host, time.Now().Add(5*365*24*time.Hour)))
			require.NoError(t, verify(t, a, a, host, time.Now().Add(-time.Hour)))
		}
		require.ErrorContains(t, verify(t, a, a, "example.com", time.Now()), "not example.com")
		require.ErrorContains(t, verify(t, a, a, "localhost", time.Now().Add(20*365*24*time.Hour)), "expired")
		other, err := certs.NewAuthority()
		require.NoError(t, err)
		require.ErrorContains(t, verify(t, other, a, "localhost", time.Now()), "unknown authority")
	}
	t.Run("wall", check)
	synctest.Test(t, check)
}
