package certificates

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

const maxTrustBundleSize = 1 << 20

func validateClusterTrustBundle(b *certificatesv1.ClusterTrustBundle) field.ErrorList {
	var root *validate.Path
	return append(validateBundleNames(b), validateTrustBundle(b.Spec.TrustBundle, root.Child("spec").Child("trustBundle"))...)
}

// validateClusterTrustBundleUpdate does not parse certificates that have not changed.
func validateClusterTrustBundleUpdate(b, old *certificatesv1.ClusterTrustBundle) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	errs := validateBundleNames(b)
	if b.Spec.TrustBundle != old.Spec.TrustBundle {
		errs = append(errs, validateTrustBundle(b.Spec.TrustBundle, p.Child("trustBundle"))...)
	}
	return append(errs, validate.Immutable(b.Spec.SignerName, old.Spec.SignerName, p.Child("signerName"))...)
}

// validateBundleNames validates the names of the bundle and of its signer.
func validateBundleNames(b *certificatesv1.ClusterTrustBundle) (errs field.ErrorList) {
	var root *validate.Path
	metadata := root.Child("metadata")
	if prefix := b.GenerateName; prefix != "" {
		errs = validate.Messages(prefix, checkBundleName(prefix, b.Spec.SignerName, true), metadata.Child("generateName"))
	}
	if b.Name != "" {
		errs = append(errs, validate.Messages(b.Name, checkBundleName(b.Name, b.Spec.SignerName, false), metadata.Child("name"))...)
	}
	if b.Spec.SignerName != "" {
		errs = append(errs, validate.SignerName(b.Spec.SignerName, root.Child("spec").Child("signerName"))...)
	}
	return errs
}

// acceptBundleName accepts any name: validateBundleNames checks it, by rules that depend on the
// signer.
func acceptBundleName(string, bool) []string { return nil }

// checkBundleName checks the name of a bundle, or the prefix of one, which starts with that of its
// signer: that of "example.com/s" with "example.com:s:".
func checkBundleName(name, signer string, isPrefix bool) []string {
	if signer == "" {
		if strings.Contains(name, ":") {
			return []string{`ClusterTrustBundle without signer name must not have ":" in its name`}
		}
		return apivalidation.NameIsDNSSubdomain(name, isPrefix)
	}
	prefix := strings.ReplaceAll(signer, "/", ":") + ":"
	name, found := strings.CutPrefix(name, prefix)
	if !found {
		return []string{fmt.Sprintf("ClusterTrustBundle for signerName %s must be named with prefix %s", signer, prefix)}
	}
	return apivalidation.NameIsDNSSubdomain(name, isPrefix)
}

// validateTrustBundle requires PEM blocks with different certificates of authorities.
func validateTrustBundle(bundle string, p *validate.Path) (errs field.ErrorList) {
	if len(bundle) > maxTrustBundleSize {
		return field.ErrorList{p.TooLong(maxTrustBundleSize)}
	}
	invalid := func(detail string) { errs = append(errs, p.Invalid("<value omitted>", detail)) }
	entries, first := map[string][]int{}, []string(nil)
	rest := []byte(bundle)
	for i := 0; ; i++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if problem := checkAnchor(block, i); problem != "" {
			invalid(problem)
			continue
		}
		der := string(block.Bytes)
		if entries[der] == nil {
			first = append(first, der)
		}
		entries[der] = append(entries[der], i)
	}
	if errs != nil {
		return errs
	}
	if len(first) == 0 {
		invalid("at least one trust anchor must be provided")
	}
	for _, der := range first {
		if len(entries[der]) > 1 {
			invalid(fmt.Sprintf("duplicate trust anchor (indices %v)", entries[der]))
		}
	}
	return errs
}

// checkAnchor returns what is wrong with the entry i of a bundle, "" if nothing is.
func checkAnchor(block *pem.Block, i int) string {
	if block.Type != "CERTIFICATE" {
		return fmt.Sprintf("entry %d has bad block type: %v", i, block.Type)
	}
	if len(block.Headers) != 0 {
		return fmt.Sprintf("entry %d has PEM block headers", i)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	switch {
	case err != nil:
		return fmt.Sprintf("entry %d does not parse as X.509", i)
	case !certificate.IsCA:
		return fmt.Sprintf("entry %d does not have the CA bit set", i)
	case !certificate.BasicConstraintsValid:
		return fmt.Sprintf("entry %d has invalid basic constraints", i)
	}
	return ""
}
