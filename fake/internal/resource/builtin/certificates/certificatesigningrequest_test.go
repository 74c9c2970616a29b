package certificates

import (
	"testing"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// A condition without times has the transition time of the old condition with its type and status.
func TestPopulateConditionTimestamps(t *testing.T) {
	type condition = certificatesv1.CertificateSigningRequestCondition
	first, second := metav1.Unix(1, 0), metav1.Unix(2, 0)
	old := &csr{Status: certificatesv1.CertificateSigningRequestStatus{Conditions: []condition{
		{Type: "A", Status: "False", LastTransitionTime: first}, {Type: "A", Status: "True"}, {Type: "A", Status: "True", LastTransitionTime: second}, {Type: "B", Status: "False", LastTransitionTime: first},
	}}}
	request := &csr{Status: certificatesv1.CertificateSigningRequestStatus{Conditions: []condition{
		{Type: "A", Status: "True"}, {Type: "B", Status: "True"}, {Type: "B", Status: "False", LastTransitionTime: second, LastUpdateTime: second},
	}}}
	begin := metav1.Now().Rfc3339Copy()
	populateConditionTimestamps(request, old)
	c := request.Status.Conditions
	require.Equal(t, second, c[0].LastTransitionTime)
	require.False(t, c[1].LastTransitionTime.Before(&begin), "it has another status than the old condition")
	for _, i := range []int{0, 1} {
		require.False(t, c[i].LastUpdateTime.Before(&begin))
	}
	require.Equal(t, condition{Type: "B", Status: "False", LastTransitionTime: second, LastUpdateTime: second}, c[2], "what is sent stays")
}
