package resourcek8sio

import (
	"context"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// Requests and allocations with admin access are only for namespaces with a label.

// validateNewResourceClaim validates a claim that is created. Its spec does not change later.
func validateNewResourceClaim(ctx context.Context, obj runtime.Object, metadata field.ErrorList) field.ErrorList {
	c := obj.(*resourcev1.ResourceClaim)
	return slices.Concat(validateAdminRequests(ctx, c.Spec.Devices.Requests), metadata, validateResourceClaim(c))
}

func validateNewResourceClaimTemplate(ctx context.Context, obj runtime.Object, metadata field.ErrorList) field.ErrorList {
	t := obj.(*resourcev1.ResourceClaimTemplate)
	return slices.Concat(validateAdminRequests(ctx, t.Spec.Spec.Devices.Requests), metadata, validateResourceClaimTemplate(t))
}

func validateResourceClaimStatus(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	c, before := obj.(*resourcev1.ResourceClaim), old.(*resourcev1.ResourceClaim)
	return slices.Concat(validateAdminAllocation(ctx, c, before), validateStatusAccess(ctx, c, before), validateResourceClaimStatusUpdate(c, before))
}

// validateAdminRequests names the first request with admin access. As on a real server, the path is
// that of a claim, also in templates, and without the field exactly.
func validateAdminRequests(ctx context.Context, requests []resourcev1.DeviceRequest) field.ErrorList {
	i := slices.IndexFunc(requests, func(r resourcev1.DeviceRequest) bool {
		return r.Exactly != nil && ptr.Deref(r.Exactly.AdminAccess, false)
	})
	if i < 0 {
		return nil
	}
	var root *validate.Path
	return validateAdminNamespace(ctx, root.Child("spec").Child("devices").Child("requests").Index(i).Child("adminAccess"))
}

// validateAdminAllocation names the first allocated device with admin access, unless old has one.
func validateAdminAllocation(ctx context.Context, c, old *resourcev1.ResourceClaim) field.ErrorList {
	i := adminResult(c)
	if i < 0 || adminResult(old) >= 0 {
		return nil
	}
	var root *validate.Path
	return validateAdminNamespace(ctx, root.Child("status").Child("allocation").Child("devices").Child("results").Index(i).Child("adminAccess"))
}

// adminResult returns the index of the first allocated device with admin access, -1 if there is
// none.
func adminResult(c *resourcev1.ResourceClaim) int {
	return slices.IndexFunc(allocated(c), func(r resourcev1.DeviceRequestAllocationResult) bool { return ptr.Deref(r.AdminAccess, false) })
}

func validateAdminNamespace(ctx context.Context, p *validate.Path) field.ErrorList {
	namespace, err := resource.NamespaceFrom(ctx)
	switch {
	case err != nil:
		return field.ErrorList{field.InternalError(p.Field(), fmt.Errorf("could not retrieve namespace to verify admin access: %w", err))}
	case namespace != nil && namespace.Labels[resourcev1.DRAAdminNamespaceLabelKey] != "true":
		return field.ErrorList{p.Forbidden(fmt.Sprintf("admin access to devices requires the `%s: true` label on the containing namespace", resourcev1.DRAAdminNamespaceLabelKey))}
	}
	return nil
}
