package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// statefulSetOptions are rules that depend on whether a StatefulSet is new.
type statefulSetOptions struct {
	pods core.PodValidationOptions
	// isNew reports whether to validate the fields that cannot change later.
	isNew bool
	// skipTemplate reports whether to validate only the metadata of the template.
	skipTemplate bool
}

func validateStatefulSet(s *appsv1.StatefulSet) field.ErrorList {
	opts := statefulSetOptions{pods: core.PodTemplateValidationOptions(&s.Spec.Template, nil), isNew: true}
	return validateStatefulSetSpec(&s.Spec, opts)
}

// validateStatefulSetUpdate validates a StatefulSet that replaces old. If old is invalid itself,
// the pods of the template may be invalid as well.
func validateStatefulSetUpdate(s, old *appsv1.StatefulSet) field.ErrorList {
	opts := statefulSetOptions{pods: core.PodTemplateValidationOptions(&s.Spec.Template, &old.Spec.Template)}
	errs := validateStatefulSetSpec(&s.Spec, opts)
	if len(errs) > 0 && len(validateStatefulSetSpec(&old.Spec, opts)) > 0 {
		opts.skipTemplate = true
		errs = validateStatefulSetSpec(&s.Spec, opts)
	}
	if s.Generation != old.Generation {
		errs = append(errs, validateStatefulSetSpecUpdate(&s.Spec, &old.Spec)...)
	}
	return errs
}

// validateStatefulSetSpecUpdate validates the fields of a spec that cannot change.
func validateStatefulSetSpecUpdate(spec, old *appsv1.StatefulSetSpec) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	errs := validate.ImmutableSelector(spec.Selector, old.Selector, p.Child("selector"))
	if len(spec.VolumeClaimTemplates)+len(old.VolumeClaimTemplates) > 0 {
		errs = append(errs, validate.Immutable(spec.VolumeClaimTemplates, old.VolumeClaimTemplates, p.Child("volumeClaimTemplates"))...)
	}
	if spec.ServiceName != old.ServiceName {
		errs = append(errs, p.Child("serviceName").Invalid(spec.ServiceName, apivalidation.FieldImmutableErrorMsg))
	}
	if spec.PodManagementPolicy != old.PodManagementPolicy {
		errs = append(errs, p.Child("podManagementPolicy").Invalid(spec.PodManagementPolicy, apivalidation.FieldImmutableErrorMsg))
	}
	return errs
}

func validateStatefulSetSpec(spec *appsv1.StatefulSetSpec, opts statefulSetOptions) (errs field.ErrorList) {
	var root *validate.Path
	p := root.Child("spec")
	switch policy := spec.PodManagementPolicy; policy {
	case appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement:
	case "":
		errs = append(errs, p.Child("podManagementPolicy").Required(""))
	default:
		errs = append(errs, p.Child("podManagementPolicy").Invalid(policy, "must be 'OrderedReady' or 'Parallel'"))
	}
	errs = append(errs, validateStatefulSetUpdateStrategy(&spec.UpdateStrategy, p.Child("updateStrategy"))...)
	if retention := spec.PersistentVolumeClaimRetentionPolicy; retention != nil {
		p := p.Child("persistentVolumeClaimRetentionPolicy")
		errs = append(errs, validateClaimRetention(retention.WhenDeleted, p.Child("whenDeleted"))...)
		errs = append(errs, validateClaimRetention(retention.WhenScaled, p.Child("whenScaled"))...)
	}
	if opts.isNew {
		for i := range spec.VolumeClaimTemplates {
			path := p.Child("volumeClaimTemplates").Index(i).Child("spec")
			errs = append(errs, core.ValidatePersistentVolumeClaimSpec(&spec.VolumeClaimTemplates[i].Spec, path)...)
		}
	}
	errs = append(errs, validate.NonNegativeOrNil(spec.Replicas, p.Child("replicas"))...)
	errs = append(errs, validate.NonNegative(int64(spec.MinReadySeconds), p.Child("minReadySeconds"))...)
	if spec.Ordinals != nil {
		errs = append(errs, validate.NonNegative(int64(spec.Ordinals.Start), p.Child("ordinals.start"))...)
	}
	if opts.isNew && spec.ServiceName != "" {
		errs = append(errs, validate.DNSLabel(spec.ServiceName, p.Child("serviceName"))...)
	}
	selectorErrs, valid := validateSelector(spec.Selector, "statefulset", p.Child("selector"))
	errs = append(errs, selectorErrs...)
	if valid {
		errs = append(errs, validateStatefulSetTemplate(spec, opts, p.Child("template"))...)
	} else {
		errs = append(errs, p.Child("selector").Invalid(spec.Selector, ""))
	}
	return append(errs, validateRunsForever(&spec.Template, "StatefulSet", p.Child("template"))...)
}

func validateStatefulSetUpdateStrategy(strategy *appsv1.StatefulSetUpdateStrategy, p *validate.Path) (errs field.ErrorList) {
	update := strategy.RollingUpdate
	switch strategy.Type {
	case "":
		return field.ErrorList{p.Required("")}
	case appsv1.OnDeleteStatefulSetStrategyType:
		if update != nil {
			errs = append(errs, p.Child("rollingUpdate").Invalid(update, "only allowed for updateStrategy 'RollingUpdate'"))
		}
		return errs
	case appsv1.RollingUpdateStatefulSetStrategyType:
	default:
		return field.ErrorList{p.Invalid(*strategy, "must be 'RollingUpdate' or 'OnDelete'")}
	}
	if update == nil {
		return nil
	}
	p = p.Child("rollingUpdate")
	errs = validate.NonNegativeOrNil(update.Partition, p.Child("partition"))
	if update.MaxUnavailable != nil {
		p := p.Child("maxUnavailable")
		errs = append(errs, validate.IntOrPercent(update.MaxUnavailable, p)...)
		if validate.IntOrPercentValue(update.MaxUnavailable) == 0 {
			errs = append(errs, p.Invalid(update.MaxUnavailable, "cannot be 0"))
		}
		errs = append(errs, validate.AtMost100Percent(update.MaxUnavailable, p)...)
	}
	return errs
}

func validateClaimRetention(policy appsv1.PersistentVolumeClaimRetentionPolicyType, p *validate.Path) field.ErrorList {
	switch policy {
	case appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType:
		return nil
	}
	return field.ErrorList{validate.NotSupported(p, policy, appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType)}
}

// validateStatefulSetTemplate validates the template as its pods will be. A real server validates
// the metadata of the template twice.
func validateStatefulSetTemplate(spec *appsv1.StatefulSetSpec, opts statefulSetOptions, p *validate.Path) field.ErrorList {
	template := &spec.Template
	errs := validateTemplateLabels(template, spec.Selector, p)
	if !opts.skipTemplate {
		errs = append(errs, core.ValidatePodTemplateSpec(podTemplateOf(spec), opts.pods, p)...)
	}
	errs = append(errs, validate.Labels(template.Labels, p.Child("labels"))...)
	errs = append(errs, validate.Annotations(template.Annotations, p.Child("annotations"))...)
	return append(errs, core.ValidatePodAnnotations(template, opts.pods, p.Child("annotations"))...)
}

// podTemplateOf returns the template without what the controller of StatefulSets sets itself, and
// with a volume for each claim, which may replace one of the template.
func podTemplateOf(spec *appsv1.StatefulSetSpec) *corev1.PodTemplateSpec {
	template := &spec.Template
	if template.Spec.Hostname == "" && template.Spec.Subdomain == "" && len(spec.VolumeClaimTemplates) == 0 {
		return template
	}
	changed := *template
	changed.Spec.Hostname, changed.Spec.Subdomain = "", ""
	if len(spec.VolumeClaimTemplates) > 0 {
		changed.Spec.Volumes = withClaimVolumes(template.Spec.Volumes, spec.VolumeClaimTemplates)
	}
	return &changed
}

func withClaimVolumes(volumes []corev1.Volume, claims []corev1.PersistentVolumeClaim) []corev1.Volume {
	all := make([]corev1.Volume, 0, len(claims)+len(volumes))
	isClaim := make(map[string]bool, len(claims))
	for i := range claims {
		name := claims[i].Name
		if isClaim[name] {
			continue
		}
		isClaim[name] = true
		all = append(all, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
		}})
	}
	for i := range volumes {
		if !isClaim[volumes[i].Name] {
			all = append(all, volumes[i])
		}
	}
	return all
}

func validateStatefulSetStatusUpdate(set, old *appsv1.StatefulSet) field.ErrorList {
	var root *validate.Path
	p, s := root.Child("status"), &set.Status
	errs := validate.NonNegative(int64(s.Replicas), p.Child("replicas"))
	errs = append(errs, validate.NonNegative(int64(s.ReadyReplicas), p.Child("readyReplicas"))...)
	errs = append(errs, validate.NonNegative(int64(s.CurrentReplicas), p.Child("currentReplicas"))...)
	errs = append(errs, validate.NonNegative(int64(s.UpdatedReplicas), p.Child("updatedReplicas"))...)
	errs = append(errs, validate.NonNegative(int64(s.AvailableReplicas), p.Child("availableReplicas"))...)
	errs = append(errs, validate.NonNegative(s.ObservedGeneration, p.Child("observedGeneration"))...)
	errs = append(errs, validate.NonNegativeOrNil(s.CollisionCount, p.Child("collisionCount"))...)
	const aboveReplicas = "cannot be greater than status.replicas"
	errs = append(errs, validateNotAbove(s.ReadyReplicas, s.Replicas, aboveReplicas, p.Child("readyReplicas"))...)
	errs = append(errs, validateNotAbove(s.CurrentReplicas, s.Replicas, aboveReplicas, p.Child("currentReplicas"))...)
	errs = append(errs, validateNotAbove(s.UpdatedReplicas, s.Replicas, aboveReplicas, p.Child("updatedReplicas"))...)
	errs = append(errs, validateNotAbove(s.AvailableReplicas, s.Replicas, aboveReplicas, p.Child("availableReplicas"))...)
	errs = append(errs, validateNotAbove(s.AvailableReplicas, s.ReadyReplicas, "cannot be greater than status.readyReplicas", p.Child("availableReplicas"))...)
	return append(errs, validateCollisionCountUpdate(s.CollisionCount, old.Status.CollisionCount, p.Child("collisionCount"))...)
}
