package certificates

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// Limits of requests for the certificates of pods.
const (
	maxStubRequestSize      = 10 * 1024
	maxCertificateChainSize = 100 * 1024
	maxUIDLength            = 128
	minMaxExpirationSeconds = 60 * 60
	maxMaxExpirationSeconds = 91 * 24 * 60 * 60
	// maxKubernetesExpirationSeconds is the limit of the signers of Kubernetes.
	maxKubernetesExpirationSeconds = 24 * 60 * 60
	// minRefreshMargin is the least time between the start of the refresh and both ends of the
	// validity of a certificate.
	minRefreshMargin = 10 * time.Minute
)

func validatePodCertificateRequest(r *certificatesv1.PodCertificateRequest) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	s := &r.Spec
	errs := validate.SignerName(s.SignerName, p.Child("signerName"))
	errs = append(errs, validate.UserAnnotations(s.UnverifiedUserAnnotations, p.Child("unverifiedUserAnnotations"))...)
	errs = append(errs, validate.DNSSubdomain(s.PodName, p.Child("podName"))...)
	errs = append(errs, validateUID(string(s.PodUID), p.Child("podUID"))...)
	errs = append(errs, validate.DNSSubdomain(s.ServiceAccountName, p.Child("serviceAccountName"))...)
	errs = append(errs, validateUID(string(s.ServiceAccountUID), p.Child("serviceAccountUID"))...)
	errs = append(errs, validate.DNSSubdomain(string(s.NodeName), p.Child("nodeName"))...)
	errs = append(errs, validateUID(string(s.NodeUID), p.Child("nodeUID"))...)
	longest := int32(maxMaxExpirationSeconds)
	if validate.IsKubernetesSigner(s.SignerName) {
		longest = maxKubernetesExpirationSeconds
	}
	if e := s.MaxExpirationSeconds; e == nil {
		return append(errs, p.Child("maxExpirationSeconds").Required("must be set"))
	} else if *e < minMaxExpirationSeconds || *e > longest {
		errs = append(errs, p.Child("maxExpirationSeconds").Invalid(*e, fmt.Sprintf("must be in the range [%d, %d]", minMaxExpirationSeconds, longest)))
	}
	return append(errs, validateStubRequest(s.StubPKCS10Request, p.Child("stubPKCS10Request"))...)
}

func validatePodCertificateRequestUpdate(r, old *certificatesv1.PodCertificateRequest) field.ErrorList {
	var root *validate.Path
	return validate.Immutable(r.Spec, old.Spec, root.Child("spec"))
}

func validateUID(uid string, p *validate.Path) field.ErrorList {
	if uid == "" {
		return field.ErrorList{p.Invalid(uid, "must not be empty")}
	}
	if len(uid) > maxUIDLength {
		return field.ErrorList{p.TooLong(maxUIDLength)}
	}
	return nil
}

// validateStubRequest requires a signed certificate request with a key of a known type and size.
func validateStubRequest(der []byte, p *validate.Path) field.ErrorList {
	if len(der) == 0 {
		return field.ErrorList{p.Required("")}
	}
	if len(der) > maxStubRequestSize {
		return field.ErrorList{p.TooLong(maxStubRequestSize)}
	}
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return field.ErrorList{p.Invalid(der, "must be a valid PKCS#10 certificate signing request")}
	}
	switch key := request.PublicKey.(type) {
	case ed25519.PublicKey:
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() && key.Curve != elliptic.P384() && key.Curve != elliptic.P521() {
			return field.ErrorList{p.Invalid("curve "+key.Curve.Params().Name, "elliptic public keys must use curve P256, P384, or P521")}
		}
	case *rsa.PublicKey:
		if bits := key.Size() * 8; bits != 3072 && bits != 4096 {
			return field.ErrorList{p.Invalid(fmt.Sprintf("%d-bit modulus", bits), "RSA keys must have modulus size 3072 or 4096")}
		}
	default:
		return field.ErrorList{p.Invalid(der, "unknown public key type; supported types are Ed25519, ECDSA, and RSA")}
	}
	if err := request.CheckSignature(); err != nil {
		return field.ErrorList{p.Invalid(field.OmitValueType{}, "could not verify the signature of the request")}
	}
	return nil
}

// validatePodCertificateRequestStatusUpdate accepts one change of the status: the request is
// issued, denied or failed.
func validatePodCertificateRequestStatusUpdate(r, old *certificatesv1.PodCertificateRequest) field.ErrorList {
	var root *validate.Path
	p := root.Child("status")
	if errs := validatePodConditions(r.Status.Conditions, p.Child("conditions")); errs != nil {
		return errs
	}
	denied := certificatesv1.PodCertificateRequestStatus{Conditions: r.Status.Conditions}
	switch {
	case finalCondition(old) != "":
		return validateSameStatus(r, &old.Status, p, "immutable after PodCertificateRequest is issued, denied, or failed")
	case finalCondition(r) == "":
		return validateSameStatus(r, &old.Status, p, `status is immutable unless transitioning to "Issued", "Denied", or "Failed"`)
	case finalCondition(r) != certificatesv1.PodCertificateRequestConditionTypeIssued:
		return validateSameStatus(r, &denied, p, "non-condition status fields must be empty when denying or failing the PodCertificateRequest")
	}
	return validateIssued(r, p)
}

// validatePodCertificateRequestStatus also requires the permission to sign, for any change of a
// valid status.
func validatePodCertificateRequestStatus(ctx context.Context, obj, before runtime.Object, metadata resource.MetadataErrors) field.ErrorList {
	r, old := obj.(*certificatesv1.PodCertificateRequest), before.(*certificatesv1.PodCertificateRequest)
	if len(metadata.All) > 0 {
		return metadata.All
	}
	if errs := validatePodCertificateRequestStatusUpdate(r, old); errs != nil {
		return errs
	}
	access, signer := resource.AccessFrom(ctx), old.Spec.SignerName
	if access == nil || equality.Semantic.DeepEqual(r.Status, old.Status) ||
		authz.IsAuthorizedForSigner(ctx, access, access.Request.User, "sign", signer) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "signerName"), fmt.Sprintf(`User %q is not permitted to "sign" for signer %q`, access.Request.User.GetName(), signer))}
}

// finalCondition returns the type of the condition that ended a request, "" if it has not ended.
func finalCondition(r *certificatesv1.PodCertificateRequest) string {
	for _, c := range r.Status.Conditions {
		if c.Status == metav1.ConditionTrue && slices.Contains(finalConditions(), c.Type) {
			return c.Type
		}
	}
	return ""
}

func validateSameStatus(r *certificatesv1.PodCertificateRequest, want *certificatesv1.PodCertificateRequestStatus, p *validate.Path, detail string) field.ErrorList {
	if equality.Semantic.DeepEqual(&r.Status, want) {
		return nil
	}
	return field.ErrorList{p.Invalid(field.OmitValueType{}, detail)}
}

// validatePodConditions accepts at most one condition. A real server puts a dot before its index.
func validatePodConditions(conditions []metav1.Condition, p *validate.Path) (errs field.ErrorList) {
	known, final := 0, finalConditions()
	for i, c := range conditions {
		at := p.Child(fmt.Sprintf("[%d]", i))
		if !slices.Contains(final, c.Type) {
			errs = append(errs, validate.NotSupported(at.Child("type"), c.Type, final...))
			continue
		}
		if known++; known > 1 {
			errs = append(errs, at.Child("type").Invalid(c.Type, `There may be at most one condition with type "Issued", "Denied", or "Failed"`))
		}
		if c.Status != metav1.ConditionTrue {
			errs = append(errs, validate.NotSupported(at.Child("status"), c.Status, metav1.ConditionTrue))
		}
	}
	return append(errs, metav1validation.ValidateConditions(conditions, p.Field())...)
}

// validateIssued validates the certificates of an issued request, and its times.
func validateIssued(r *certificatesv1.PodCertificateRequest, p *validate.Path) field.ErrorList {
	status := &r.Status
	path := p.Child("certificateChain")
	leaf, err := parseChain(status.CertificateChain, path)
	if err != nil {
		return field.ErrorList{err}
	}
	errs := validateLeafNames(leaf, path)
	if !isIssuedTo(leaf, r.Spec.StubPKCS10Request) {
		return append(errs, path.Invalid(status.CertificateChain, "leaf certificate was not issued to the requested public key"))
	}
	if status.NotBefore == nil {
		errs = append(errs, p.Child("notBefore").Required("must be present and consistent with the issued certificate"))
	}
	if status.NotAfter == nil {
		errs = append(errs, p.Child("notAfter").Required("must be present and consistent with the issued certificate"))
	}
	if status.BeginRefreshAt == nil {
		errs = append(errs, p.Child("beginRefreshAt").Required("must be present and in the range [notbefore+10min, notafter-10min]"))
	}
	if errs != nil {
		return errs
	}
	if err := validateValidity(r, leaf, p); err != nil {
		return field.ErrorList{err}
	}
	return validateIntermediates(status.CertificateChain, path)
}

// parseChain returns the first certificate of a chain.
func parseChain(chain string, p *validate.Path) (*x509.Certificate, *field.Error) {
	if len(chain) > maxCertificateChainSize {
		return nil, p.TooLong(maxCertificateChainSize)
	}
	block, _ := pem.Decode([]byte(chain))
	switch {
	case block == nil:
		return nil, p.Invalid(chain, "issued certificate chain must contain at least one certificate")
	case block.Type != "CERTIFICATE":
		return nil, p.Invalid(chain, "issued certificate chain must consist entirely of CERTIFICATE PEM blocks")
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, p.Invalid(chain, "leaf certificate does not parse as valid X.509")
	}
	return leaf, nil
}

func validateLeafNames(leaf *x509.Certificate, p *validate.Path) (errs field.ErrorList) {
	for _, name := range leaf.DNSNames {
		if name == "" {
			errs = append(errs, p.Invalid(name, "leaf certificate should not contain empty DNSName"))
		}
		if strings.Contains(name, "..") {
			errs = append(errs, p.Invalid(name, "leaf certificate's DNSName should not contain '..'"))
		}
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") {
			errs = append(errs, p.Invalid(name, "leaf certificate's DNSName should not start or end with '.'"))
		}
	}
	for _, address := range leaf.EmailAddresses {
		if _, err := mail.ParseAddress(address); err != nil {
			errs = append(errs, p.Invalid(address, "leaf certificate should not contain invalid EmailAddress"))
		}
	}
	return errs
}

// isIssuedTo reports whether a certificate is for the key of a certificate request.
func isIssuedTo(leaf *x509.Certificate, requestDER []byte) bool {
	request, err := x509.ParseCertificateRequest(requestDER)
	return err == nil && string(request.RawSubjectPublicKeyInfo) == string(leaf.RawSubjectPublicKeyInfo)
}

// validateValidity compares the times of a status with those of the certificate. It does not
// compare them with the time of the server, which a test may have set.
func validateValidity(r *certificatesv1.PodCertificateRequest, leaf *x509.Certificate, p *validate.Path) *field.Error {
	status := &r.Status
	lifetime := leaf.NotAfter.Sub(leaf.NotBefore)
	switch longest := r.Spec.MaxExpirationSeconds; {
	case !status.NotBefore.Time.Equal(leaf.NotBefore):
		return p.Child("notBefore").Invalid(status.NotBefore.Time, "must be set to the NotBefore time encoded in the leaf certificate")
	case !status.NotAfter.Time.Equal(leaf.NotAfter):
		return p.Child("notAfter").Invalid(status.NotAfter.Time, "must be set to the NotAfter time encoded in the leaf certificate")
	case lifetime < time.Hour:
		return p.Child("certificateChain").Invalid(lifetime, "leaf certificate lifetime must be >= 1 hour")
	case longest != nil && lifetime > time.Duration(*longest)*time.Second:
		return p.Child("certificateChain").Invalid(lifetime, fmt.Sprintf("leaf certificate lifetime must be <= spec.maxExpirationSeconds (%v)", *longest))
	case status.BeginRefreshAt.Time.Before(status.NotBefore.Add(minRefreshMargin)):
		return p.Child("beginRefreshAt").Invalid(status.BeginRefreshAt.Time, "must be at least 10 minutes after status.notBefore")
	case status.BeginRefreshAt.Time.After(status.NotAfter.Add(-minRefreshMargin)):
		return p.Child("beginRefreshAt").Invalid(status.BeginRefreshAt.Time, "must be at least 10 minutes before status.notAfter")
	}
	return nil
}

// validateIntermediates validates the certificates after the first one.
func validateIntermediates(chain string, p *validate.Path) field.ErrorList {
	_, rest := pem.Decode([]byte(chain))
	for {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		switch {
		case block == nil:
			return nil
		case block.Type != "CERTIFICATE":
			return field.ErrorList{p.Invalid(chain, "issued certificate chain must consist entirely of CERTFICATE PEM blocks")}
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return field.ErrorList{p.Invalid(chain, "intermediate certificate does not parse as valid X.509")}
		}
	}
}
