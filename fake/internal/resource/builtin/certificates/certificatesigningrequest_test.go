package certificates

import (
	"testing"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"

	"example.com/fakeapi/fake/internal/authn"
)

func TestPrepareCSRForCreate(t *testing.T) {
	sent := certificatesv1.CertificateSigningRequestSpec{
		SignerName: "example.com/s", Username: "mallory", UID: "0", Groups: []string{"system:masters"},
		Extra: map[string]certificatesv1.ExtraValue{"scope": {"all"}},
	}
	ann := authenticationv1.UserInfo{
		Username: "ann", UID: "17", Groups: []string{"dev"}, Extra: map[string]authenticationv1.ExtraValue{"key": {"a", "b"}},
	}
	for name, c := range map[string]struct {
		user authenticationv1.UserInfo
		want certificatesv1.CertificateSigningRequestSpec
	}{
		"all fields": {ann, certificatesv1.CertificateSigningRequestSpec{
			SignerName: "example.com/s", Username: "ann", UID: "17", Groups: []string{"dev"},
			Extra: map[string]certificatesv1.ExtraValue{"key": {"a", "b"}},
		}},
		"a name only": {authenticationv1.UserInfo{Username: "bob"}, certificatesv1.CertificateSigningRequestSpec{
			SignerName: "example.com/s", Username: "bob",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			request := &csr{Spec: *sent.DeepCopy()}
			prepareCSRForCreate(authn.WithUser(t.Context(), c.user), request)
			require.Equal(t, c.want, request.Spec)
		})
	}
}
