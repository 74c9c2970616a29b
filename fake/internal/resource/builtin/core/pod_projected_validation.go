package core

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateProjectedVolumeSource validates the sources that are together in one volume.
func validateProjectedVolumeSource(projected *corev1.ProjectedVolumeSource, opts PodValidationOptions, p *validate.Path) field.ErrorList {
	errs := validateFileMode(projected.DefaultMode, p.Child("defaultMode"))
	var paths projectedPaths
	for i := range projected.Sources {
		source, at := &projected.Sources[i], p.Child("sources").Index(i)
		sources := 0
		if source.Secret != nil {
			sources++
			errs = append(errs, validateProjectedKeys(source.Secret.Name, source.Secret.Items, &paths, at.Child("secret"), p)...)
		}
		if source.ConfigMap != nil {
			sources++
			errs = append(errs, validateProjectedKeys(source.ConfigMap.Name, source.ConfigMap.Items, &paths, at.Child("configMap"), p)...)
		}
		if source.DownwardAPI != nil {
			sources++
			for j := range source.DownwardAPI.Items {
				file := &source.DownwardAPI.Items[j]
				errs = append(errs, validateDownwardAPIVolumeFile(file, at.Child("downwardAPI"))...)
				if file.Path != "" {
					errs = append(errs, addProjectedPath(file.Path, file.Path, &paths, p)...)
				}
			}
		}
		if source.ServiceAccountToken != nil {
			sources++
			errs = append(errs, validateProjectedToken(source.ServiceAccountToken, opts, at.Child("serviceAccountToken"), p)...)
		}
		if source.ClusterTrustBundle != nil {
			sources++
			errs = append(errs, validateProjectedTrustBundle(source.ClusterTrustBundle, &paths, at.Child("clusterTrustBundle"), p)...)
		}
		if source.PodCertificate != nil {
			sources++
			errs = append(errs, validateProjectedCertificate(source.PodCertificate, &paths, at.Child("podCertificate"), p)...)
		}
		if sources > 1 {
			errs = append(errs, at.Forbidden("may not specify more than 1 volume type per source"))
		}
	}
	return errs
}

// projectedPaths are the paths of the files in a projected volume.
type projectedPaths struct {
	paths    smallSet[string]
	reported int // the size of the values of all errors
}

// maxProjectedConflicts is the maximum size of the values in errors of conflicting paths in a
// volume. They have the name of an object for each of its keys. A server lists all.
const maxProjectedConflicts = 1 << 20

// addProjectedPath adds the path of a file to those of its volume. If another file has it, the
// error is that of the volume, with a value. volume is the path of the volume's source.
func addProjectedPath(path, value string, paths *projectedPaths, volume *validate.Path) field.ErrorList {
	if paths.paths.add(path) || paths.reported > maxProjectedConflicts {
		return nil
	}
	paths.reported += len(value)
	return field.ErrorList{volume.Invalid(value, "conflicting duplicate paths")}
}

// validateProjectedKeys validates the files for the keys of a ConfigMap or a Secret. A conflict of
// paths is reported with the name of the object.
func validateProjectedKeys(name string, items []corev1.KeyToPath, paths *projectedPaths, p, volume *validate.Path) field.ErrorList {
	errs := requireValue(name, p.Child("name"))
	for i := range items {
		errs = append(errs, validateKeyToPath(&items[i], p.Child("items").Index(i))...)
		if items[i].Path != "" {
			errs = append(errs, addProjectedPath(items[i].Path, name, paths, volume)...)
		}
	}
	return errs
}

// validateProjectedToken validates a service account token. The path of errors of its file is that
// of the volume.
func validateProjectedToken(token *corev1.ServiceAccountTokenProjection, opts PodValidationOptions, p, volume *validate.Path) (errs field.ErrorList) {
	at := p.Child("expirationSeconds")
	switch seconds := token.ExpirationSeconds; {
	case seconds == nil:
		errs = append(errs, at.Required(""))
	case *seconds < 10*60:
		errs = append(errs, at.Invalid(*seconds, "may not specify a duration less than 10 minutes"))
	case *seconds > 1<<32:
		errs = append(errs, at.Invalid(*seconds, "may not specify a duration larger than 2^32 seconds"))
	}
	switch {
	case token.Path == "":
		errs = append(errs, volume.Child("path").Required(""))
	case !opts.anyTokenPath:
		errs = append(errs, validateLocalNonReservedPath(token.Path, volume.Child("path"))...)
	}
	return errs
}

// validateTokensOfPod validates that a pod without a service account has no tokens. p is the path
// of the spec.
func validateTokensOfPod(spec *corev1.PodSpec, p *validate.Path) (errs field.ErrorList) {
	if spec.ServiceAccountName != "" {
		return nil
	}
	for i := range spec.Volumes {
		projected := spec.Volumes[i].Projected
		if projected == nil {
			continue
		}
		for j := range projected.Sources {
			if projected.Sources[j].ServiceAccountToken != nil {
				at := p.Child("volumes").Index(i).Child("projected").Child("sources").Index(j).Child("serviceAccountToken")
				errs = append(errs, at.Forbidden("must not be specified when serviceAccountName is not set"))
			}
		}
	}
	return errs
}

// validateProjectedTrustBundle validates the trust anchors of a ClusterTrustBundle or of a signer.
func validateProjectedTrustBundle(bundle *corev1.ClusterTrustBundleProjection, paths *projectedPaths, p, volume *validate.Path) (errs field.ErrorList) {
	switch {
	case bundle.Name != nil && bundle.SignerName != nil:
		errs = append(errs, p.Invalid(bundle, "only one of name and signerName may be used"))
	case bundle.Name != nil:
		if *bundle.Name == "" {
			errs = append(errs, p.Child("name").Required("must be a valid object name"))
		}
		for _, message := range trustBundleNameProblems(*bundle.Name) {
			errs = append(errs, p.Child("name").Invalid(*bundle.Name, "not a valid clustertrustbundlename: "+message))
		}
		if bundle.LabelSelector != nil {
			errs = append(errs, p.Child("labelSelector").Invalid(bundle.LabelSelector, "labelSelector must be unset if name is specified"))
		}
	case bundle.SignerName != nil:
		if *bundle.SignerName == "" {
			errs = append(errs, p.Child("signerName").Required("must be a valid signer name"))
		}
		errs = append(errs, validate.SignerName(*bundle.SignerName, p.Child("signerName"))...)
		errs = append(errs, validate.LabelSelector(bundle.LabelSelector, metav1validation.LabelSelectorValidationOptions{}, p.Child("labelSelector"))...)
	default:
		errs = append(errs, p.Required("either name or signerName must be specified"))
	}
	errs = append(errs, requireValue(bundle.Path, p.Child("path"))...)
	errs = append(errs, validateLocalNonReservedPath(bundle.Path, p.Child("path"))...)
	return append(errs, addProjectedPath(bundle.Path, bundle.Path, paths, volume)...)
}

// trustBundleNameProblems returns what is wrong with the name of a ClusterTrustBundle: one without
// signer, or the name of a signer with a colon for the slash, another colon and the rest.
func trustBundleNameProblems(name string) []string {
	colon := strings.LastIndexByte(name, ':')
	switch {
	case colon == 0: // a signer without name
		return []string{`ClusterTrustBundle without signer name must not have ":" in its name`}
	case colon > 0 && strings.Contains(name[:colon], "/"):
		signer := strings.ReplaceAll(name[:colon], ":", "/")
		return []string{fmt.Sprintf("ClusterTrustBundle for signerName %s must be named with prefix %s:", signer, strings.ReplaceAll(signer, "/", ":"))}
	}
	return apivalidation.NameIsDNSSubdomain(name[colon+1:], false)
}

// validateProjectedCertificate validates a certificate that is requested for the pod, and its
// files.
func validateProjectedCertificate(certificate *corev1.PodCertificateProjection, paths *projectedPaths, p, volume *validate.Path) field.ErrorList {
	errs := validate.SignerName(certificate.SignerName, p.Child("signerName"))
	errs = append(errs, validate.UserAnnotations(certificate.UserAnnotations, p.Child("userAnnotations"))...)
	switch certificate.KeyType {
	case "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519":
	default:
		errs = append(errs, validate.NotSupported(p.Child("keyType"), certificate.KeyType,
			"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"))
	}
	if certificate.MaxExpirationSeconds != nil {
		errs = append(errs, validateCertificateLifetime(*certificate.MaxExpirationSeconds, certificate.SignerName, p.Child("maxExpirationSeconds"))...)
	}
	files := [...]struct{ field, path string }{
		{"credentialBundlePath", certificate.CredentialBundlePath},
		{"keyPath", certificate.KeyPath},
		{"certificateChainPath", certificate.CertificateChainPath},
	}
	hasFile := false
	for _, file := range files {
		if file.path != "" {
			hasFile = true
			errs = append(errs, validateLocalNonReservedPath(file.path, p.Child(file.field))...)
			errs = append(errs, addProjectedPath(file.path, file.path, paths, volume)...)
		}
	}
	if !hasFile {
		errs = append(errs, p.Required("specify at least one of credentialBundlePath, keyPath, and certificateChainPath"))
	}
	return errs
}

// validateCertificateLifetime validates how long a certificate may be valid: from an hour to 91
// days, or one day for the signers of Kubernetes.
func validateCertificateLifetime(seconds int32, signer string, p *validate.Path) (errs field.ErrorList) {
	const hour, day = 60 * 60, 24 * 60 * 60
	longest := int32(91 * day)
	if validate.IsKubernetesSigner(signer) {
		longest = day
	}
	switch {
	case seconds < hour:
		errs = append(errs, p.Invalid(seconds, fmt.Sprintf("if provided, maxExpirationSeconds must be >= %d", hour)))
	case seconds > longest:
		errs = append(errs, p.Invalid(seconds, fmt.Sprintf("if provided, maxExpirationSeconds must be <= %d", longest)))
	}
	return errs
}
