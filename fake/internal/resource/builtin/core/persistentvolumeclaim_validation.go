package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// claimOptions are rules for the spec of a claim that depend on the claim that an update replaces:
// what it has already stays valid. The zero value has the rules for new claims.
type claimOptions struct {
	// selector has the rules for the values of the selector.
	selector metav1validation.LabelSelectorValidationOptions
	// anySourceGroup accepts malformed API groups of data sources.
	anySourceGroup bool
}

// ValidatePersistentVolumeClaimSpec validates the spec of a new claim or of a template for one.
func ValidatePersistentVolumeClaimSpec(spec *corev1.PersistentVolumeClaimSpec, p *validate.Path) field.ErrorList {
	return validateClaimSpec(spec, claimOptions{}, p)
}

func validateClaimSpec(spec *corev1.PersistentVolumeClaimSpec, opts claimOptions, p *validate.Path) (errs field.ErrorList) {
	if len(spec.AccessModes) == 0 {
		errs = append(errs, p.Child("accessModes").Required("at least 1 access mode is required"))
	}
	errs = append(errs, validate.LabelSelector(spec.Selector, opts.selector, p.Child("selector"))...)
	errs = append(errs, validateVolumeAccessModes(spec.AccessModes, p.Child("accessModes"))...)
	errs = append(errs, validateStorageRequest(spec.Resources.Requests, p.Child("resources").Key(string(corev1.ResourceStorage)))...)
	if name := ptr.Deref(spec.StorageClassName, ""); name != "" {
		errs = append(errs, validate.DNSSubdomain(name, p.Child("storageClassName"))...)
	}
	errs = append(errs, validateVolumeMode(spec.VolumeMode, p.Child("volumeMode"))...)
	errs = append(errs, validateDataSources(spec, opts, p)...)
	if name := ptr.Deref(spec.VolumeAttributesClassName, ""); name != "" {
		errs = append(errs, validate.DNSSubdomain(name, p.Child("volumeAttributesClassName"))...)
	}
	return errs
}

// validateStorageRequest validates that requests have a positive size. p is the path for the size.
func validateStorageRequest(requests corev1.ResourceList, p *validate.Path) field.ErrorList {
	size, ok := requests[corev1.ResourceStorage]
	if !ok {
		return field.ErrorList{p.Required("")}
	}
	return validatePositiveQuantity(size, p)
}

// validateDataSources validates what the volume of a claim is filled with. p is the path of the spec.
func validateDataSources(spec *corev1.PersistentVolumeClaimSpec, opts claimOptions, p *validate.Path) (errs field.ErrorList) {
	source, ref := spec.DataSource, spec.DataSourceRef
	if source != nil {
		errs = append(errs, validateDataSource(source.APIGroup, source.Kind, source.Name, opts, p.Child("dataSource"))...)
	}
	if ref == nil {
		return errs
	}
	errs = append(errs, validateDataSource(ref.APIGroup, ref.Kind, ref.Name, opts, p.Child("dataSourceRef"))...)
	namespace := ptr.Deref(ref.Namespace, "")
	if namespace != "" {
		errs = append(errs, validate.Messages(namespace, apivalidation.ValidateNamespaceName(namespace, false), p.Child("dataSourceRef").Child("namespace"))...)
	}
	switch {
	case source == nil:
	case namespace != "":
		errs = append(errs, p.Invalid(p.Child("dataSource").Field(), "may not be specified when dataSourceRef.namespace is specified"))
	case !ptr.Equal(source.APIGroup, ref.APIGroup) || source.Kind != ref.Kind || source.Name != ref.Name:
		errs = append(errs, p.Invalid(p.Child("dataSource").Field(), "must match dataSourceRef"))
	}
	return errs
}

// validateDataSource validates a reference to the object that a volume is filled from.
func validateDataSource(apiGroup *string, kind, name string, opts claimOptions, p *validate.Path) field.ErrorList {
	errs := requireValue(name, p.Child("name"))
	errs = append(errs, requireValue(kind, p.Child("kind"))...)
	group := ptr.Deref(apiGroup, "")
	switch {
	case group == "" && kind != "PersistentVolumeClaim":
		errs = append(errs, p.Invalid(kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
	case group != "" && !opts.anySourceGroup:
		errs = append(errs, validate.DNSSubdomain(group, p.Child("apiGroup"))...)
	}
	return errs
}

// validateVolumeAccessModes validates the access modes of a volume or a claim, of which there may
// be none.
func validateVolumeAccessModes(modes []corev1.PersistentVolumeAccessMode, p *validate.Path) (errs field.ErrorList) {
	exclusive, shared := false, false
	for _, mode := range modes {
		switch mode {
		case corev1.ReadWriteOncePod:
			exclusive = true
		case corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce:
			shared = true
		default:
			errs = append(errs, validate.NotSupported(p, mode,
				corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod))
		}
	}
	if exclusive && shared {
		errs = append(errs, p.Forbidden("may not use ReadWriteOncePod with other access modes"))
	}
	return errs
}

// validateVolumeMode validates the mode of a volume or a claim, which may be nil.
func validateVolumeMode(mode *corev1.PersistentVolumeMode, p *validate.Path) field.ErrorList {
	if mode == nil || *mode == corev1.PersistentVolumeBlock || *mode == corev1.PersistentVolumeFilesystem {
		return nil
	}
	return field.ErrorList{validate.NotSupported(p, *mode, corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem)}
}

// validatePositiveQuantity validates that a quantity is greater than zero.
func validatePositiveQuantity(q resource.Quantity, p *validate.Path) field.ErrorList {
	if q.Sign() > 0 {
		return nil
	}
	return field.ErrorList{p.Invalid(q.String(), "must be greater than zero")}
}
