package certificates

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func newPodRequest(t *testing.T, key *ecdsa.PrivateKey) *certificatesv1.PodCertificateRequest {
	r := &certificatesv1.PodCertificateRequest{Spec: certificatesv1.PodCertificateRequestSpec{
		SignerName: "example.com/s", PodName: "p", PodUID: "1", ServiceAccountName: "bot", ServiceAccountUID: "2", NodeName: "n", NodeUID: "3",
		StubPKCS10Request: newRequest(t, key),
	}}
	setPodCertificateRequestDefaults(r)
	return r
}

func TestValidatePodCertificateRequest(t *testing.T) {
	key := newKey(t, elliptic.P256())
	small, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		change func(*certificatesv1.PodCertificateRequestSpec)
		want   []string
	}{
		"91 days": {func(s *certificatesv1.PodCertificateRequestSpec) { *s.MaxExpirationSeconds = 91 * 86400 }, nil},
		"more than 91 days": {func(s *certificatesv1.PodCertificateRequestSpec) { *s.MaxExpirationSeconds = 91*86400 + 1 },
			[]string{"spec.maxExpirationSeconds: Invalid value: 7862401: must be in the range [3600, 7862400]"}},
		"more than a day, of Kubernetes": {func(s *certificatesv1.PodCertificateRequestSpec) {
			s.SignerName, *s.MaxExpirationSeconds = "x.kubernetes.io/s", 86401
		}, []string{"spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]"}},
		"less than an hour": {func(s *certificatesv1.PodCertificateRequestSpec) { *s.MaxExpirationSeconds = 3599 },
			[]string{"spec.maxExpirationSeconds: Invalid value: 3599: must be in the range [3600, 7862400]"}},
		"no duration": {func(s *certificatesv1.PodCertificateRequestSpec) { s.MaxExpirationSeconds = nil }, []string{"spec.maxExpirationSeconds: Required value: must be set"}},
		"P-384": {func(s *certificatesv1.PodCertificateRequestSpec) {
			s.StubPKCS10Request = newRequest(t, newKey(t, elliptic.P384()))
		}, nil},
		"P-521": {func(s *certificatesv1.PodCertificateRequestSpec) {
			s.StubPKCS10Request = newRequest(t, newKey(t, elliptic.P521()))
		}, nil},
		"annotations": {func(s *certificatesv1.PodCertificateRequestSpec) {
			s.UnverifiedUserAnnotations = map[string]string{"example.com/A": "any", "plain": ""}
		}, []string{`spec.unverifiedUserAnnotations: Invalid value: "plain": must be a domain-prefixed key (such as "acme.io/foo")`}},
		"names": {func(s *certificatesv1.PodCertificateRequestSpec) {
			s.PodName, s.ServiceAccountName, s.NodeName = "P", "S", "N"
		}, []string{
			`spec.podName: Invalid value: "P": ` + validatetest.BadSubdomain, `spec.serviceAccountName: Invalid value: "S": ` + validatetest.BadSubdomain,
			`spec.nodeName: Invalid value: "N": ` + validatetest.BadSubdomain,
		}},
		"no UIDs": {func(s *certificatesv1.PodCertificateRequestSpec) {
			s.PodUID, s.ServiceAccountUID, s.NodeUID = "", "", ""
		}, []string{
			`spec.podUID: Invalid value: "": must not be empty`, `spec.serviceAccountUID: Invalid value: "": must not be empty`,
			`spec.nodeUID: Invalid value: "": must not be empty`,
		}},
		"a long UID": {func(s *certificatesv1.PodCertificateRequestSpec) {
			s.NodeUID = "x" + "12345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678"
		},
			[]string{"spec.nodeUID: Too long: may not be more than 128 bytes"}},
		"no request": {func(s *certificatesv1.PodCertificateRequestSpec) { s.StubPKCS10Request = nil }, []string{"spec.stubPKCS10Request: Required value"}},
		"a long request": {func(s *certificatesv1.PodCertificateRequestSpec) { s.StubPKCS10Request = make([]byte, 10241) },
			[]string{"spec.stubPKCS10Request: Too long: may not be more than 10240 bytes"}},
		"a small key": {func(s *certificatesv1.PodCertificateRequestSpec) { s.StubPKCS10Request = newRequest(t, small) },
			[]string{`spec.stubPKCS10Request: Invalid value: "2048-bit modulus": RSA keys must have modulus size 3072 or 4096`}},
		"a small curve": {func(s *certificatesv1.PodCertificateRequestSpec) {
			s.StubPKCS10Request = newRequest(t, newKey(t, elliptic.P224()))
		},
			[]string{`spec.stubPKCS10Request: Invalid value: "curve P-224": elliptic public keys must use curve P256, P384, or P521`}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newPodRequest(t, key)
			c.change(&r.Spec)
			require.Equal(t, c.want, validatetest.Texts(validatePodCertificateRequest(r)))
		})
	}
	r, old := newPodRequest(t, key), newPodRequest(t, key)
	r.Spec = *old.Spec.DeepCopy()
	require.Empty(t, validatePodCertificateRequestUpdate(r, old))
	r.Spec.PodName = "q"
	require.Contains(t, validatePodCertificateRequestUpdate(r, old)[0].Error(), "field is immutable")
}

func TestValidatePodCertificateRequestStatus(t *testing.T) {
	key, now := newKey(t, elliptic.P256()), time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	pending := newPodRequest(t, key)
	with := func(conditions ...string) *certificatesv1.PodCertificateRequest {
		r := pending.DeepCopy()
		for _, c := range conditions {
			r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{Type: c, Status: "True", Reason: "R", LastTransitionTime: metav1.NewTime(now)})
		}
		return r
	}
	issued := func(template x509.Certificate, key *ecdsa.PrivateKey) *certificatesv1.PodCertificateRequest {
		if template.NotAfter.IsZero() {
			template.NotAfter = now.Add(2 * time.Hour)
		}
		template.NotBefore = now
		r := with("Issued")
		r.Status.CertificateChain = encode("CERTIFICATE", newCertificate(t, key, template))
		r.Status.NotBefore, r.Status.NotAfter = new(metav1.NewTime(now)), new(metav1.NewTime(template.NotAfter))
		r.Status.BeginRefreshAt = new(metav1.NewTime(now.Add(time.Hour)))
		return r
	}
	changed := func(r *certificatesv1.PodCertificateRequest, change func(*certificatesv1.PodCertificateRequestStatus)) *certificatesv1.PodCertificateRequest {
		change(&r.Status)
		return r
	}
	for name, c := range map[string]struct {
		old, r *certificatesv1.PodCertificateRequest
		want   string // "" if the status is valid
	}{
		"issued":            {pending, issued(x509.Certificate{}, key), ""},
		"denied":            {pending, with("Denied"), ""},
		"no change":         {with("Denied"), with("Denied"), ""},
		"denied and failed": {pending, with("Denied", "Failed"), `status.conditions.[1].type: Invalid value: "Failed": There may be at most one condition with type "Issued", "Denied", or "Failed"`},
		"another condition": {pending, with("Ready"), `status.conditions.[0].type: Unsupported value: "Ready": supported values: "Issued", "Denied", "Failed"`},
		"another reason":    {with("Denied"), changed(with("Denied"), func(s *certificatesv1.PodCertificateRequestStatus) { s.Conditions[0].Reason = "S" }), "status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed"},
		"no transition time": {pending, changed(with("Denied"), func(s *certificatesv1.PodCertificateRequestStatus) {
			s.Conditions[0].LastTransitionTime = metav1.Time{}
		}), "status.conditions[0].lastTransitionTime: Required value"},
		"after the end":               {with("Denied"), issued(x509.Certificate{}, key), "status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed"},
		"denied with a chain":         {pending, changed(with("Denied"), func(s *certificatesv1.PodCertificateRequestStatus) { s.CertificateChain = "x" }), "status: Invalid value: non-condition status fields must be empty when denying or failing the PodCertificateRequest"},
		"a chain only":                {pending, changed(with(), func(s *certificatesv1.PodCertificateRequestStatus) { s.CertificateChain = "x" }), `status: Invalid value: status is immutable unless transitioning to "Issued", "Denied", or "Failed"`},
		"no chain":                    {pending, with("Issued"), `status.certificateChain: Invalid value: "": issued certificate chain must contain at least one certificate`},
		"another key":                 {pending, issued(x509.Certificate{}, newKey(t, elliptic.P256())), "leaf certificate was not issued to the requested public key"},
		"no time":                     {pending, changed(issued(x509.Certificate{}, key), func(s *certificatesv1.PodCertificateRequestStatus) { s.NotAfter = nil }), "status.notAfter: Required value: must be present and consistent with the issued certificate"},
		"no begin":                    {pending, changed(issued(x509.Certificate{}, key), func(s *certificatesv1.PodCertificateRequestStatus) { s.NotBefore = nil }), "status.notBefore: Required value: must be present and consistent with the issued certificate"},
		"no refresh":                  {pending, changed(issued(x509.Certificate{}, key), func(s *certificatesv1.PodCertificateRequestStatus) { s.BeginRefreshAt = nil }), "status.beginRefreshAt: Required value: must be present and in the range [notbefore+10min, notafter-10min]"},
		"another time":                {pending, changed(issued(x509.Certificate{}, key), func(s *certificatesv1.PodCertificateRequestStatus) { s.NotAfter = s.BeginRefreshAt }), "must be set to the NotAfter time encoded in the leaf certificate"},
		"less than an hour":           {pending, issued(x509.Certificate{NotAfter: now.Add(time.Hour - time.Second)}, key), "leaf certificate lifetime must be >= 1 hour"},
		"more than a day":             {pending, issued(x509.Certificate{NotAfter: now.Add(24*time.Hour + time.Second)}, key), "leaf certificate lifetime must be <= spec.maxExpirationSeconds (86400)"},
		"refreshed at the end":        {pending, changed(issued(x509.Certificate{}, key), func(s *certificatesv1.PodCertificateRequestStatus) { s.BeginRefreshAt = s.NotAfter }), "must be at least 10 minutes before status.notAfter"},
		"refreshed immediately":       {pending, changed(issued(x509.Certificate{}, key), func(s *certificatesv1.PodCertificateRequestStatus) { s.BeginRefreshAt = s.NotBefore }), "must be at least 10 minutes after status.notBefore"},
		"names":                       {pending, issued(x509.Certificate{DNSNames: []string{"a.b."}}, key), "leaf certificate's DNSName should not start or end with '.'"},
		"a name with two dots":        {pending, issued(x509.Certificate{DNSNames: []string{"a..b"}}, key), "leaf certificate's DNSName should not contain '..'"},
		"a name that begins with one": {pending, issued(x509.Certificate{DNSNames: []string{"a.b", ".a"}}, key), "leaf certificate's DNSName should not start or end with '.'"},
		"a mail address":              {pending, issued(x509.Certificate{EmailAddresses: []string{"ann@example.com"}}, key), ""},
		"no mail address":             {pending, issued(x509.Certificate{EmailAddresses: []string{"ann"}}, key), "leaf certificate should not contain invalid EmailAddress"},
		"an intermediate":             {pending, changed(issued(x509.Certificate{}, key), func(s *certificatesv1.PodCertificateRequestStatus) { s.CertificateChain += s.CertificateChain }), ""},
		"a condition that is unknown": {pending, changed(with("Denied"), func(s *certificatesv1.PodCertificateRequestStatus) { s.Conditions[0].Status = "Unknown" }), `status.conditions.[0].status: Unsupported value: "Unknown": supported values: "True"`},
		"a key in the chain":          {pending, changed(issued(x509.Certificate{}, key), func(s *certificatesv1.PodCertificateRequestStatus) { s.CertificateChain += encode("KEY", nil) }), "issued certificate chain must consist entirely of CERTFICATE PEM blocks"},
		"a bad intermediate":          {pending, changed(issued(x509.Certificate{}, key), func(s *certificatesv1.PodCertificateRequestStatus) { s.CertificateChain += encode("CERTIFICATE", nil) }), "intermediate certificate does not parse as valid X.509"},
		"a long chain": {pending, changed(with("Issued"), func(s *certificatesv1.PodCertificateRequestStatus) {
			s.CertificateChain = strings.Repeat("x", maxCertificateChainSize+1)
		}), "status.certificateChain: Too long: may not be more than 102400 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			errs := validatePodCertificateRequestStatusUpdate(c.r, c.old)
			if c.want == "" {
				require.Empty(t, errs)
				return
			}
			require.Len(t, errs, 1)
			require.Contains(t, errs[0].Error(), c.want)
		})
	}
}

// Whoever changes a status needs the permission to sign, also to deny.
func TestValidatePodCertificateRequestSigner(t *testing.T) {
	pending := newPodRequest(t, newKey(t, elliptic.P256()))
	denied := pending.DeepCopy()
	denied.Status.Conditions = []metav1.Condition{{Type: "Denied", Status: "True", Reason: "R", LastTransitionTime: metav1.Now()}}
	invalid := denied.DeepCopy()
	invalid.Status.Conditions[0].Reason = ""
	forbidden := `spec.signerName: Forbidden: User "ann" is not permitted to "sign" for signer "example.com/s"`
	for name, c := range map[string]struct {
		r, old *certificatesv1.PodCertificateRequest
		signer string // which ann may sign for
		want   []string
	}{
		"the signer":           {denied, pending, "example.com/s", nil},
		"all of its domain":    {denied, pending, "example.com/*", nil},
		"another signer":       {denied, pending, "example.com/t", []string{forbidden}},
		"no change":            {denied, denied, "example.com/t", nil},
		"an invalid condition": {invalid, pending, "example.com/t", []string{"status.conditions[0].reason: Required value"}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := resource.WithAccess(t.Context(), &resource.Access{
				Request: authorizer.AttributesRecord{User: &user.DefaultInfo{Name: "ann"}},
				UnconditionalAuthorizer: authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
					if a.GetUser().GetName() == "ann" && a.GetVerb() == "sign" && a.GetResource() == "signers" && a.GetName() == c.signer {
						return authorizer.DecisionAllow, "", nil
					}
					return authorizer.DecisionNoOpinion, "", nil
				}),
			})
			require.Equal(t, c.want, validatetest.Texts(validatePodCertificateRequestStatus(ctx, c.r, c.old, resource.MetadataErrors{})))
		})
	}
	require.Empty(t, validatePodCertificateRequestStatus(t.Context(), denied, pending, resource.MetadataErrors{}), "everything is allowed")
}
