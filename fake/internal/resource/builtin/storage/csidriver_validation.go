package storage

import (
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateCSIDriver validates a driver.
func validateCSIDriver(d *storagev1.CSIDriver) (errs field.ErrorList) {
	var root *validate.Path
	p, spec := root.Child("spec"), &d.Spec
	if policy := spec.FSGroupPolicy; policy != nil {
		switch *policy {
		case storagev1.FileFSGroupPolicy, storagev1.NoneFSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy:
		default:
			errs = append(errs, validate.NotSupported(p.Child("fsGroupPolicy"), *policy,
				storagev1.FileFSGroupPolicy, storagev1.NoneFSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy))
		}
	}
	errs = append(errs, validateTokenRequests(spec.TokenRequests, p.Child("tokenRequests"))...)
	for _, mode := range spec.VolumeLifecycleModes {
		if mode != storagev1.VolumeLifecyclePersistent && mode != storagev1.VolumeLifecycleEphemeral {
			errs = append(errs, validate.NotSupported(p.Child("volumeLifecycleModes"), mode,
				storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral))
		}
	}
	if period := spec.NodeAllocatableUpdatePeriodSeconds; period != nil && *period < 10 {
		errs = append(errs, p.Child("nodeAllocatableUpdatePeriodSeconds").Invalid(*period, "must be greater than or equal to 10 seconds"))
	}
	if inSecrets := spec.ServiceAccountTokenInSecrets; inSecrets != nil && len(spec.TokenRequests) == 0 {
		errs = append(errs, p.Child("serviceAccountTokenInSecrets").Invalid(*inSecrets,
			"serviceAccountTokenInSecrets is set but no tokenRequests are specified"))
	}
	return errs
}

// validateCSIDriverUpdate validates a driver that replaces old.
func validateCSIDriverUpdate(d, old *storagev1.CSIDriver) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	errs := validateCSIDriver(d)
	errs = append(errs, validate.Immutable(d.Spec.AttachRequired, old.Spec.AttachRequired, p.Child("attachedRequired"))...)
	return append(errs, validate.Immutable(d.Spec.VolumeLifecycleModes, old.Spec.VolumeLifecycleModes, p.Child("volumeLifecycleModes"))...)
}

// validateTokenRequests validates that tokens are for different audiences, and how long they are
// valid.
func validateTokenRequests(requests []storagev1.TokenRequest, p *validate.Path) (errs field.ErrorList) {
	seen := make(map[string]bool, len(requests))
	for i, r := range requests {
		if seen[r.Audience] {
			errs = append(errs, p.Index(i).Child("audience").Duplicate(r.Audience))
			continue
		}
		seen[r.Audience] = true
		switch seconds := r.ExpirationSeconds; {
		case seconds == nil:
		case *seconds < 10*60:
			errs = append(errs, p.Index(i).Child("expirationSeconds").Invalid(*seconds, "may not specify a duration less than 10 minutes"))
		case *seconds > 1<<32:
			errs = append(errs, p.Index(i).Child("expirationSeconds").Invalid(*seconds, "may not specify a duration larger than 2^32 seconds"))
		}
	}
	return errs
}
