package certs_test

import (
	"crypto/x509"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/fake/internal/certs"
)

// verify tells what a client that trusts an authority says of the certificate that
// another one has issued.
func verify(t *testing.T, trusted, issuer *certs.Authority, host string, at time.Time) error {
	t.Helper()
	issued, err := issuer.IssueServer("localhost", "127.0.0.1", "::1")
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(issued.Certificate[0])
	require.NoError(t, err)
	_, err = leaf.Verify(x509.VerifyOptions{Roots: trusted.CertPool(), DNSName: host, CurrentTime: at})
	return err
}

// Whoever trusts the authority takes its certificates for the names they are for,
// on the clock of the wall and on that of a bubble, and for years; nobody else does.
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
