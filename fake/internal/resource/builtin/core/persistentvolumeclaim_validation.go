package core

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
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

// validatePersistentVolumeClaim validates a new claim.
func validatePersistentVolumeClaim(pvc *corev1.PersistentVolumeClaim) field.ErrorList {
	var root *validate.Path
	return ValidatePersistentVolumeClaimSpec(&pvc.Spec, root.Child("spec"))
}

// validatePersistentVolumeClaimUpdate validates a claim that replaces old.
func validatePersistentVolumeClaimUpdate(pvc, old *corev1.PersistentVolumeClaim) field.ErrorList {
	var root *validate.Path
	var opts claimOptions
	opts.selector.AllowInvalidLabelValueInSelector = len(validate.LabelSelector(old.Spec.Selector, opts.selector, root)) > 0
	opts.anySourceGroup = old.Spec.DataSource != nil && old.Spec.DataSource.APIGroup != nil ||
		old.Spec.DataSourceRef != nil && old.Spec.DataSourceRef.APIGroup != nil
	return append(validateClaimSpec(&pvc.Spec, opts, root.Child("spec")), validateClaimChanges(pvc, old)...)
}

// validateClaimChanges validates that an update changes only what can be changed: the name of the
// volume once, the class if there was none, and of a bound claim its size and the class of its
// volume's attributes.
func validateClaimChanges(pvc, old *corev1.PersistentVolumeClaim) (errs field.ErrorList) {
	var root *validate.Path
	p := root.Child("spec")
	spec, was := pvc.Spec, old.Spec
	if was.VolumeName == "" {
		was.VolumeName = spec.VolumeName
	}
	if movesStorageClass(pvc, old) {
		spec.StorageClassName = nil
	} else {
		errs = append(errs, validateStorageClassAnnotation(pvc, old)...)
		if setsStorageClass(pvc, old) {
			spec.StorageClassName = was.StorageClassName
		}
	}
	if isBound := pvc.Status.Phase == corev1.ClaimBound; isBound {
		if spec.Resources.Requests != nil {
			spec.Resources.Requests = maps.Clone(spec.Resources.Requests)
			spec.Resources.Requests[corev1.ResourceStorage] = was.Resources.Requests[corev1.ResourceStorage]
		}
		spec.VolumeAttributesClassName = was.VolumeAttributesClassName
	}
	if !equality.Semantic.DeepEqual(spec, was) {
		errs = append(errs, p.Forbidden("spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"+changes(was, spec)))
	}
	size, oldSize := pvc.Spec.Resources.Requests[corev1.ResourceStorage], old.Spec.Resources.Requests[corev1.ResourceStorage]
	if size.Cmp(oldSize) < 0 && size.Cmp(old.Status.Capacity[corev1.ResourceStorage]) <= 0 {
		errs = append(errs, p.Child("resources").Child("requests").Child("storage").Forbidden("field can not be less than status.capacity"))
	}
	errs = append(errs, validate.Immutable(pvc.Spec.VolumeMode, old.Spec.VolumeMode, root.Child("volumeMode"))...)
	return append(errs, validateAttributesClassChange(pvc, old, p.Child("volumeAttributesClassName"))...)
}

// validateAttributesClassChange validates that a claim keeps a class of attributes once one has
// been applied to its volume. Before, a client can cancel the change by removing the class.
func validateAttributesClassChange(pvc, old *corev1.PersistentVolumeClaim, p *validate.Path) field.ErrorList {
	class := pvc.Spec.VolumeAttributesClassName
	switch {
	case old.Status.CurrentVolumeAttributesClassName == nil, ptr.Equal(class, old.Spec.VolumeAttributesClassName):
		return nil
	case class == nil:
		return field.ErrorList{p.Forbidden("update to nil is forbidden when status.currentVolumeAttributesClassName is not nil")}
	case *class == "":
		return field.ErrorList{p.Forbidden("update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil")}
	}
	return nil
}

// movesStorageClass reports whether an update moves the class of a claim from the annotation, which
// it may keep, to the field.
func movesStorageClass(pvc, old *corev1.PersistentVolumeClaim) bool {
	class, inAnnotation := old.Annotations[corev1.BetaStorageClassAnnotation]
	annotation, isKept := pvc.Annotations[corev1.BetaStorageClassAnnotation]
	return inAnnotation && old.Spec.StorageClassName == nil &&
		pvc.Spec.StorageClassName != nil && *pvc.Spec.StorageClassName == class &&
		(!isKept || annotation == class)
}

// setsStorageClass reports whether an update sets the class of a claim that has none, or has the
// same in the annotation.
func setsStorageClass(pvc, old *corev1.PersistentVolumeClaim) bool {
	annotation, inAnnotation := old.Annotations[corev1.BetaStorageClassAnnotation]
	return old.Spec.StorageClassName == nil && pvc.Spec.StorageClassName != nil &&
		(!inAnnotation || *pvc.Spec.StorageClassName == annotation)
}

func validateStorageClassAnnotation(pvc, old *corev1.PersistentVolumeClaim) field.ErrorList {
	var root *validate.Path
	return validate.Immutable(pvc.Annotations[corev1.BetaStorageClassAnnotation], old.Annotations[corev1.BetaStorageClassAnnotation],
		root.Child("metadata").Child("annotations").Child(corev1.BetaStorageClassAnnotation))
}

// validatePersistentVolumeClaimStatusUpdate validates the status of a claim.
func validatePersistentVolumeClaimStatusUpdate(pvc, _ *corev1.PersistentVolumeClaim) (errs field.ErrorList) {
	var root *validate.Path
	p, status := root.Child("status"), &pvc.Status
	if len(pvc.Spec.AccessModes) == 0 {
		errs = append(errs, root.Child("Spec").Child("accessModes").Required(""))
	}
	for _, name := range slices.Sorted(maps.Keys(status.Capacity)) {
		errs = append(errs, validateBasicQuantity(status.Capacity[name], p.Child("capacity").Key(string(name)))...)
	}
	for _, name := range slices.Sorted(maps.Keys(status.AllocatedResourceStatuses)) {
		at := p.Child("allocatedResourceStatuses")
		errs = append(errs, validateClaimResource(name, at)...)
		switch status.AllocatedResourceStatuses[name] {
		case corev1.PersistentVolumeClaimControllerResizeInProgress, corev1.PersistentVolumeClaimControllerResizeInfeasible,
			corev1.PersistentVolumeClaimNodeResizeInProgress, corev1.PersistentVolumeClaimNodeResizeInfeasible,
			corev1.PersistentVolumeClaimNodeResizePending:
		default:
			errs = append(errs, validate.NotSupported(at, name,
				corev1.PersistentVolumeClaimControllerResizeInProgress, corev1.PersistentVolumeClaimControllerResizeInfeasible,
				corev1.PersistentVolumeClaimNodeResizeInProgress, corev1.PersistentVolumeClaimNodeResizeInfeasible,
				corev1.PersistentVolumeClaimNodeResizePending))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(status.AllocatedResources)) {
		errs = append(errs, validateAllocatedResource(name, status.AllocatedResources[name], p.Child("allocatedResources"))...)
	}
	return errs
}

// validateAllocatedResource validates how much of a resource is allocated to a claim.
func validateAllocatedResource(name corev1.ResourceName, q resource.Quantity, p *validate.Path) field.ErrorList {
	if errs := validateClaimResource(name, p); len(errs) > 0 {
		return errs
	}
	p = p.Key(string(name))
	if errs := validateBasicQuantity(q, p); len(errs) > 0 {
		return errs
	}
	return validateResourceQuantity(corev1.ResourceStorage, q, p)
}

// validateClaimResource validates the name of a resource of a claim: storage, or one of another
// domain than that of Kubernetes.
func validateClaimResource(name corev1.ResourceName, p *validate.Path) field.ErrorList {
	if errs := validate.Messages(string(name), validation.IsQualifiedName(string(name)), p); len(errs) > 0 {
		return errs
	}
	if isNativeResource(name) && name != corev1.ResourceStorage {
		return field.ErrorList{validate.NotSupported(p, string(name), corev1.ResourceStorage)}
	}
	return nil
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

// validateDataSources validates what the volume of a claim is filled with. p is the path of the
// spec.
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

// validateBasicQuantity validates that a quantity is not negative as an int64, which overflows.
func validateBasicQuantity(q resource.Quantity, p *validate.Path) field.ErrorList {
	value := q.Value()
	if value >= 0 {
		return nil
	}
	return field.ErrorList{p.Invalid(value, "must be a valid resource quantity")}
}
