package certificates

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

const (
	// legacySigner is a signer that requests in v1 must not name.
	legacySigner         = "kubernetes.io/legacy-unknown"
	minExpirationSeconds = 600
)

// The validation of tags refuses requests that are both approved and denied.

func validateCSR(r *csr) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	errs := append(validateRequest(&r.Spec, p), validateUsages(r.Spec.Usages, p.Child("usages"))...)
	if r.Spec.SignerName == legacySigner {
		errs = append(errs, p.Child("signerName").Invalid(r.Spec.SignerName, "the legacy signerName is not allowed via this API version"))
	}
	return append(errs, validateSignerAndExpiration(&r.Spec, p)...)
}

func validateCSRUpdate(r, old *csr) field.ErrorList {
	return append(validateChangedCSR(r, old), validateConditionsNotRemoved(r, old)...)
}

// validateCSRApprovalUpdate validates a write of an approver.
func validateCSRApprovalUpdate(r, old *csr) field.ErrorList {
	return validateCSRUpdate(r, old)
}

// validateCSRStatusUpdate validates a write of a signer, who sets the certificate once and does not
// approve.
func validateCSRStatusUpdate(r, old *csr) field.ErrorList {
	errs := append(validateChangedCSR(r, old), validateCertificateContent(r, old)...)
	errs = append(errs, validateConditionsNotRemoved(r, old)...)
	errs = append(errs, validateApprovalNotAdded(r, old)...)
	if len(old.Status.Certificate) > 0 && !bytes.Equal(r.Status.Certificate, old.Status.Certificate) {
		errs = append(errs, field.Forbidden(field.NewPath("status", "certificate"), "updates may not modify existing certificate content"))
	}
	return errs
}

// validateChangedCSR validates what every update validates. The spec cannot change, so that usages
// and signers that are not accepted any more stay.
func validateChangedCSR(r, old *csr) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	errs := append(validateRequest(&r.Spec, p), validateSignerAndExpiration(&r.Spec, p)...)
	return append(errs, validateConditions(r, old)...)
}

// validateRequest requires a certificate request with a valid signature, and a usage.
func validateRequest(spec *certificatesv1.CertificateSigningRequestSpec, p *validate.Path) (errs field.ErrorList) {
	if err := checkRequest(spec.Request); err != nil {
		errs = append(errs, p.Child("request").Invalid(spec.Request, err.Error()))
	}
	if len(spec.Usages) == 0 {
		errs = append(errs, p.Child("usages").Required(""))
	}
	return errs
}

// checkRequest checks the first PEM block of data.
func checkRequest(data []byte) error {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return err
	}
	return request.CheckSignature()
}

// knownUsages returns the usages of certificates, sorted.
func knownUsages() []certificatesv1.KeyUsage {
	return []certificatesv1.KeyUsage{
		certificatesv1.UsageAny, certificatesv1.UsageCertSign, certificatesv1.UsageClientAuth, certificatesv1.UsageCodeSigning,
		certificatesv1.UsageContentCommitment, certificatesv1.UsageCRLSign, certificatesv1.UsageDataEncipherment,
		certificatesv1.UsageDecipherOnly, certificatesv1.UsageDigitalSignature, certificatesv1.UsageEmailProtection,
		certificatesv1.UsageEncipherOnly, certificatesv1.UsageIPsecEndSystem, certificatesv1.UsageIPsecTunnel,
		certificatesv1.UsageIPsecUser, certificatesv1.UsageKeyAgreement, certificatesv1.UsageKeyEncipherment,
		certificatesv1.UsageMicrosoftSGC, certificatesv1.UsageNetscapeSGC, certificatesv1.UsageOCSPSigning,
		certificatesv1.UsageSMIME, certificatesv1.UsageServerAuth, certificatesv1.UsageSigning, certificatesv1.UsageTimestamping,
	}
}

// validateUsages requires known usages, each once.
func validateUsages(usages []certificatesv1.KeyUsage, p *validate.Path) (errs field.ErrorList) {
	known := knownUsages()
	for i, usage := range usages {
		if !slices.Contains(known, usage) {
			errs = append(errs, validate.NotSupported(p.Index(i), usage, known...))
		}
	}
	seen := make(map[certificatesv1.KeyUsage]bool)
	for i, usage := range usages {
		if seen[usage] {
			errs = append(errs, p.Index(i).Duplicate(usage))
		}
		seen[usage] = true
	}
	return errs
}

// validateSignerAndExpiration accepts the legacy signer.
func validateSignerAndExpiration(spec *certificatesv1.CertificateSigningRequestSpec, p *validate.Path) (errs field.ErrorList) {
	if spec.SignerName != legacySigner {
		errs = validate.SignerName(spec.SignerName, p.Child("signerName"))
	}
	if e := spec.ExpirationSeconds; e != nil && *e < minExpirationSeconds {
		errs = append(errs, p.Child("expirationSeconds").Invalid(*e, "may not specify a duration less than 600 seconds (10 minutes)"))
	}
	return errs
}

// validateConditions validates the conditions. Empty and repeated types are accepted if old has
// them.
func validateConditions(r, old *csr) (errs field.ErrorList) {
	var root *validate.Path
	path := root.Child("status").Child("conditions")
	allowEmpty, allowDuplicates := len(conditionsOfType(old, "")) > 0, hasDuplicateConditions(old)
	seen := map[certificatesv1.RequestConditionType]bool{}
	for i, c := range r.Status.Conditions {
		p := path.Index(i)
		if c.Type == "" && !allowEmpty {
			errs = append(errs, p.Child("type").Required(""))
		}
		allowed := []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown}
		switch c.Type {
		case certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed:
			allowed = []corev1.ConditionStatus{corev1.ConditionTrue}
		}
		switch {
		case c.Status == "":
			errs = append(errs, p.Child("status").Required(""))
		case !slices.Contains(allowed, c.Status):
			errs = append(errs, validate.NotSupported(p.Child("status"), c.Status, allowed...))
		}
		if seen[c.Type] && !allowDuplicates {
			errs = append(errs, p.Child("type").Duplicate(c.Type))
		}
		seen[c.Type] = true
	}
	return errs
}

func hasDuplicateConditions(r *csr) bool {
	seen := map[certificatesv1.RequestConditionType]bool{}
	for _, c := range r.Status.Conditions {
		if seen[c.Type] {
			return true
		}
		seen[c.Type] = true
	}
	return false
}

// validateConditionsNotRemoved checks that no condition Approved, Denied or Failed was removed.
func validateConditionsNotRemoved(r, old *csr) (errs field.ErrorList) {
	for _, of := range []certificatesv1.RequestConditionType{
		certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed,
	} {
		if len(conditionsOfType(r, of)) < len(conditionsOfType(old, of)) {
			errs = append(errs, field.Forbidden(field.NewPath("status", "conditions"),
				fmt.Sprintf("updates may not remove a condition of type %q", of)))
		}
	}
	return errs
}

// validateApprovalNotAdded checks that no condition Approved or Denied was added. Modified ones
// have been restored by preserveConditions.
func validateApprovalNotAdded(r, old *csr) (errs field.ErrorList) {
	for _, of := range []certificatesv1.RequestConditionType{certificatesv1.CertificateApproved, certificatesv1.CertificateDenied} {
		if len(conditionsOfType(r, of)) > len(conditionsOfType(old, of)) {
			errs = append(errs, field.Forbidden(field.NewPath("status", "conditions"),
				fmt.Sprintf("updates may not add a condition of type %q", of)))
		}
	}
	return errs
}

// validateCertificateContent validates a new certificate. Any content is accepted if that of old is
// not valid either.
func validateCertificateContent(r, old *csr) field.ErrorList {
	if bytes.Equal(r.Status.Certificate, old.Status.Certificate) || checkCertificates(old.Status.Certificate) != nil {
		return nil
	}
	if err := checkCertificates(r.Status.Certificate); err != nil {
		return field.ErrorList{field.Invalid(field.NewPath("status", "certificate"), "<certificate data>", err.Error())}
	}
	return nil
}

// checkCertificates checks PEM blocks with certificates.
func checkCertificates(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	for blocks := 0; ; blocks++ {
		block, rest := pem.Decode(data)
		switch {
		case block == nil && blocks == 0:
			return errors.New("must contain at least one CERTIFICATE PEM block")
		case block == nil:
			return nil
		case block.Type != "CERTIFICATE":
			return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
		case len(block.Headers) != 0:
			return errors.New("no PEM block headers are permitted")
		}
		certificates, err := x509.ParseCertificates(block.Bytes)
		if err != nil {
			return err
		}
		if len(certificates) == 0 {
			return errors.New("found CERTIFICATE PEM block containing 0 certificates")
		}
		data = rest
	}
}
