package plugins

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/component-helpers/storage/ephemeral"

	"example.com/fakeapi/fake/internal/authn"
)

var (
	persistentVolumes = corev1.SchemeGroupVersion.WithResource("persistentvolumes")
	csiDrivers        = storagev1.SchemeGroupVersion.WithResource("csidrivers")
)

// token limits tokens to those that are bound to a pod on the node, for an audience of the pod.
func (r nodeWrite) token(ctx context.Context) error {
	request, ok := r.Object.(*authenticationv1.TokenRequest)
	if !ok || r.Operation != admissionv1.Create || r.Subresource != "token" {
		return nil
	}
	ref := request.Spec.BoundObjectRef
	switch {
	case ref == nil || ref.APIVersion != "v1" || ref.Kind != "Pod" || ref.Name == "":
		return r.forbiddenf("node requested token not bound to a pod")
	case ref.UID == "":
		return r.forbiddenf("node requested token with a pod binding without a uid")
	}
	pod, err := r.storedPod(ref.Name)
	switch {
	case err != nil:
		return err
	case ref.UID != pod.UID:
		return r.forbiddenf("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID)
	case pod.Spec.NodeName != r.node:
		return r.forbiddenf("node requested token bound to a pod scheduled on a different node")
	}
	return r.checkAudience(ctx, pod, request.Spec.Audiences)
}

// checkAudience refuses a token for an audience that no volume of the pod needs and that the user
// has no permission for (KEP-4412).
func (r nodeWrite) checkAudience(ctx context.Context, pod *corev1.Pod, audiences []string) error {
	if len(audiences) > 1 {
		return r.forbiddenf("node may only request 0 or 1 audiences")
	}
	audience := ""
	if len(audiences) == 1 {
		audience = audiences[0]
	}
	switch needed, err := r.isAudienceOf(pod, audience); {
	case err != nil:
		return r.forbiddenf("error validating audience %q: %w", audience, err)
	case needed || r.authorizer == nil:
		return nil
	}
	switch allowed, err := r.mayRequest(ctx, "request-serviceaccounts-token-audience", audience, r.Name); {
	case allowed:
		return nil
	case err != nil:
		return r.forbiddenf("error authorizing %s to request tokens for audience %q: %w", r.User.Username, audience, err)
	}
	return r.forbiddenf("%s is not authorized to request tokens for audience %q", r.User.Username, audience)
}

// mayRequest reports whether the user may do verb for a service account, with any audience or
// signer or with the requested one, which is the resource of the permission. An authorizer may
// return an error and allow it.
func (r nodeWrite) mayRequest(ctx context.Context, verb, requested, account string) (bool, error) {
	path := r.RequestResource()
	decision, _, err := r.authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User: authn.NewInfo(r.User), Verb: verb, ResourceRequest: true,
		Namespace: r.Namespace, APIGroup: path.Group, APIVersion: path.Version, Resource: requested, Name: account,
	})
	return decision == authorizer.DecisionAllow, err
}

// isAudienceOf reports whether a volume of a pod needs tokens for an audience. If none does, an
// error has the objects that were not found.
func (r nodeWrite) isAudienceOf(pod *corev1.Pod, audience string) (bool, error) {
	var failed []error
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if isProjectedAudience(v.Projected, audience) {
			return true, nil
		}
		driver, err := r.driverOf(pod, v)
		if err == nil && driver != "" {
			var needed bool
			if needed, err = r.driverNeedsAudience(driver, audience); needed {
				return true, nil
			}
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	return false, utilerrors.NewAggregate(failed)
}

func isProjectedAudience(projected *corev1.ProjectedVolumeSource, audience string) bool {
	return projected != nil && slices.ContainsFunc(projected.Sources, func(s corev1.VolumeProjection) bool {
		return s.ServiceAccountToken != nil && s.ServiceAccountToken.Audience == audience
	})
}

// driverOf returns the CSI driver of a volume of a pod, "" if it has none.
func (r nodeWrite) driverOf(pod *corev1.Pod, v *corev1.Volume) (string, error) {
	switch {
	case v.Ephemeral != nil:
		return r.driverOfClaim(ephemeral.VolumeClaimName(pod, v))
	case v.PersistentVolumeClaim != nil:
		return r.driverOfClaim(v.PersistentVolumeClaim.ClaimName)
	}
	return podVolumeDriver(&v.VolumeSource), nil
}

// driverOfClaim returns the CSI driver of the volume that a claim is bound to. An unbound claim is
// an error, because there is no volume without a name.
func (r nodeWrite) driverOfClaim(name string) (string, error) {
	claim, err := r.listed(claims, "persistentvolumeclaim", r.Namespace, name)
	if err != nil {
		return "", err
	}
	volume, err := r.listed(persistentVolumes, "persistentvolume", "", claim.(*corev1.PersistentVolumeClaim).Spec.VolumeName)
	if err != nil {
		return "", err
	}
	return persistentVolumeDriver(&volume.(*corev1.PersistentVolume).Spec.PersistentVolumeSource), nil
}

func (r nodeWrite) driverNeedsAudience(name, audience string) (bool, error) {
	driver, err := r.listed(csiDrivers, "csidriver", "", name)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(driver.(*storagev1.CSIDriver).Spec.TokenRequests, func(t storagev1.TokenRequest) bool {
		return t.Audience == audience
	}), nil
}

// listed returns an object, or the NotFound of a lister of kube-apiserver, which has the singular.
func (r nodeWrite) listed(res schema.GroupVersionResource, singular, namespace, name string) (runtime.Object, error) {
	obj, err := r.objects.Get(res, namespace, name)
	if apierrors.IsNotFound(err) {
		err = apierrors.NewNotFound(schema.GroupResource{Group: res.Group, Resource: singular}, name)
	}
	return obj, err
}
