package resourcek8sio

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/resource"
)

// Whoever updates the status of a claim needs permissions for the fields that change (feature gate
// DRAResourceClaimGranularStatusAuthorization). The server removes the status of a device that is
// deallocated: that needs no permission for its driver.

func validateStatusAccess(ctx context.Context, c, old *resourcev1.ResourceClaim) (errs field.ErrorList) {
	access := resource.AccessFrom(ctx)
	if access == nil {
		return nil
	}
	p := field.NewPath("status")
	verb := access.Request.Verb
	if !equality.Semantic.DeepEqual(c.Status.Allocation, old.Status.Allocation) || !equality.Semantic.DeepEqual(c.Status.ReservedFor, old.Status.ReservedFor) {
		if err := checkAccess(ctx, access, verb, resourcev1.SubresourceBinding, "", ""); err != nil {
			errs = append(errs, field.Forbidden(p, fmt.Sprintf(`changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="%s" permission: %s`, verb, err)))
		}
	}
	verbs := []string{resourcev1.VerbPrefixArbitraryNode + verb}
	if isServiceAccountOnNode(access.Request.User, allocatedNode(c.Status.Allocation)) {
		verbs = slices.Insert(verbs, 0, resourcev1.VerbPrefixAssociatedNode+verb)
	}
	oldDevices := withoutDevices(old.Status.Devices, deallocatedDevices(c, old))
	for _, driver := range changedDrivers(c.Status.Devices, oldDevices) {
		if err := checkDriverAccess(ctx, access, verbs, c.Namespace, driver); err != nil {
			errs = append(errs, field.Forbidden(p.Child("devices"), fmt.Sprintf(`changing status.devices requires resource="resourceclaims/driver", verb="%s" permission: %s`, verbs, err)))
		}
	}
	return errs
}

// checkDriverAccess requires any of the verbs. Its error is that of the first one.
func checkDriverAccess(ctx context.Context, access *resource.Access, verbs []string, namespace, driver string) (first error) {
	for _, verb := range verbs {
		err := checkAccess(ctx, access, verb, resourcev1.SubresourceDriver, namespace, driver)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// checkAccess returns the error of a user who may not do verb on a subresource of claims. An empty
// namespace or name means all.
func checkAccess(ctx context.Context, access *resource.Access, verb, subresource, namespace, name string) error {
	attributes := access.Request
	attributes.Verb, attributes.Subresource, attributes.Namespace, attributes.Name = verb, subresource, namespace, name
	decision, reason, err := access.Authorize(ctx, attributes)
	switch {
	case decision == authorizer.DecisionAllow:
		return nil
	case err != nil && reason != "":
		reason = fmt.Sprintf("%v: %s", err, reason)
	case err != nil:
		reason = err.Error()
	}
	return authz.Forbidden(attributes, reason)
}

// changedDrivers returns the sorted drivers of the devices that were added, changed, or removed.
func changedDrivers(devices, old []resourcev1.AllocatedDeviceStatus) []string {
	before := make(map[deviceID]*resourcev1.AllocatedDeviceStatus, len(old))
	for i := range old {
		before[statusID(&old[i])] = &old[i]
	}
	drivers := make(map[string]bool)
	for i := range devices {
		id := statusID(&devices[i])
		if was := before[id]; was == nil || !equality.Semantic.DeepEqual(*was, devices[i]) {
			drivers[id.Driver] = true
		}
		delete(before, id)
	}
	for id := range before {
		drivers[id.Driver] = true
	}
	return slices.Sorted(maps.Keys(drivers))
}

// allocatedNode returns the name of the only node of an allocation, or "".
func allocatedNode(a *resourcev1.AllocationResult) string {
	if a == nil || a.NodeSelector == nil || len(a.NodeSelector.NodeSelectorTerms) != 1 {
		return ""
	}
	term := &a.NodeSelector.NodeSelectorTerms[0]
	if len(term.MatchExpressions) != 0 || len(term.MatchFields) != 1 {
		return ""
	}
	f := &term.MatchFields[0]
	if f.Key != "metadata.name" || f.Operator != corev1.NodeSelectorOpIn || len(f.Values) != 1 {
		return ""
	}
	return f.Values[0]
}

// isServiceAccountOnNode reports whether u is a ServiceAccount with a token that is bound to node.
func isServiceAccountOnNode(u user.Info, node string) bool {
	_, _, err := serviceaccount.SplitUsername(u.GetName())
	at := u.GetExtra()[serviceaccount.NodeNameKey]
	return err == nil && len(at) == 1 && at[0] == node && len(validation.NameIsDNSSubdomain(node, false)) == 0
}
