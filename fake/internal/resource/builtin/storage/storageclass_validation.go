package storage

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateStorageClass validates a class. Tags of its type require the provisioner, and let an
// update change only what can be changed.
func validateStorageClass(c *storagev1.StorageClass) (errs field.ErrorList) {
	var root *validate.Path
	if c.Provisioner != "" {
		errs = append(errs, validateProvisioner(c.Provisioner, root.Child("provisioner"))...)
	}
	errs = append(errs, validateParameters(c.Parameters, root.Child("parameters"))...)
	if policy := c.ReclaimPolicy; policy != nil && *policy != "" &&
		*policy != corev1.PersistentVolumeReclaimDelete && *policy != corev1.PersistentVolumeReclaimRetain {
		errs = append(errs, validate.NotSupported(root.Child("reclaimPolicy"), *policy,
			corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain))
	}
	if mode := c.VolumeBindingMode; mode != nil && *mode != storagev1.VolumeBindingImmediate && *mode != storagev1.VolumeBindingWaitForFirstConsumer {
		errs = append(errs, validate.NotSupported(root.Child("volumeBindingMode"), *mode,
			storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer))
	}
	return append(errs, validateAllowedTopologies(c.AllowedTopologies, root.Child("allowedTopologies"))...)
}

func validateStorageClassUpdate(c, _ *storagev1.StorageClass) field.ErrorList {
	return validateStorageClass(c)
}

// validateProvisioner validates the name of a driver, which is a qualified name in any case.
func validateProvisioner(name string, p *validate.Path) field.ErrorList {
	name = strings.ToLower(name)
	return validate.Messages(name, validation.IsQualifiedName(name), p)
}

const (
	maxParameters     = 512
	maxParametersSize = 256 << 10
)

// validateParameters validates the number and the size of parameters for a driver.
func validateParameters(parameters map[string]string, p *validate.Path) (errs field.ErrorList) {
	if len(parameters) > maxParameters {
		return field.ErrorList{p.TooLong(maxParameters)}
	}
	size := 0
	for key, value := range parameters {
		if key == "" {
			errs = append(errs, p.Invalid(key, "field can not be empty."))
		}
		size += len(key) + len(value)
	}
	if size > maxParametersSize {
		errs = append(errs, p.TooLong(maxParametersSize))
	}
	return errs
}

// maxDuplicates is how many causes a term has at most for the equal terms before it. A server lists
// all of them, so that a long list of equal terms has a cause for each pair.
const maxDuplicates = 16

// validateAllowedTopologies validates terms, which differ from each other. A term without
// requirements is an error, reported once for each term of the list.
func validateAllowedTopologies(terms []corev1.TopologySelectorTerm, p *validate.Path) (errs field.ErrorList) {
	equal := make(map[string]int, len(terms))
	for i := range terms {
		canonical, termErrs := validateTopologyTerm(&terms[i], p.Index(i))
		errs = append(errs, termErrs...)
		duplicates := equal[canonical]
		if canonical == "" {
			duplicates += len(terms)
		}
		for range min(duplicates, maxDuplicates) {
			errs = append(errs, p.Index(i).Child("matchLabelExpressions").Duplicate(""))
		}
		equal[canonical]++
	}
	return errs
}

// validateTopologyTerm validates a term. It returns a text that is the same for equal terms, and ""
// for those without requirements.
func validateTopologyTerm(term *corev1.TopologySelectorTerm, p *validate.Path) (canonical string, errs field.ErrorList) {
	values := make(map[string]string, len(term.MatchLabelExpressions))
	for i := range term.MatchLabelExpressions {
		r, at := &term.MatchLabelExpressions[i], p.Child("matchLabelExpressions").Index(i)
		errs = append(errs, validateTopologyValues(r.Values, at.Child("values"))...)
		errs = append(errs, validate.LabelName(r.Key, at.Child("key"))...)
		if _, exists := values[r.Key]; exists {
			errs = append(errs, at.Child("key").Duplicate(r.Key))
		}
		values[r.Key] = fmt.Sprintf("%q", slices.Compact(slices.Sorted(slices.Values(r.Values))))
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&b, "%q:%s,", key, values[key])
	}
	return b.String(), errs
}

// validateTopologyValues validates that there are values, and that they differ.
func validateTopologyValues(values []string, p *validate.Path) (errs field.ErrorList) {
	if len(values) == 0 {
		return field.ErrorList{p.Required("")}
	}
	seen := make(map[string]bool, len(values))
	for i, value := range values {
		if seen[value] {
			errs = append(errs, p.Index(i).Duplicate(value))
		}
		seen[value] = true
	}
	return errs
}
