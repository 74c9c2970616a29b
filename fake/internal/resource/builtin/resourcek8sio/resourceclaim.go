package resourcek8sio

import (
	"context"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"example.com/fakeapi/fake/internal/resource"
)

func setResourceClaimDefaults(c *resourcev1.ResourceClaim) {
	setRequestDefaults(c.Spec.Devices.Requests)
	for i, results := 0, allocated(c); i < len(results); i++ {
		setTolerationDefaults(results[i].Tolerations)
	}
}

func prepareResourceClaimForCreate(_ context.Context, c *resourcev1.ResourceClaim) {
	dropDerivedAttributes(c.Spec.Devices.Requests, nil)
}

func prepareResourceClaimForUpdate(_ context.Context, c, old *resourcev1.ResourceClaim) {
	dropDerivedAttributes(c.Spec.Devices.Requests, old.Spec.Devices.Requests)
}

// resourceClaimStatusSubresource keeps the spec and the metadata. The status of a device goes with
// its allocation.
func resourceClaimStatusSubresource() resource.Subresource {
	s := resource.StatusSubresource("metadata")
	s.PrepareForUpdate = resource.OnUpdate(prepareResourceClaimStatus)
	return s
}

func prepareResourceClaimStatus(_ context.Context, c, old *resourcev1.ResourceClaim) {
	c.Spec = old.Spec
	metav1.ResetObjectMetaForStatus(&c.ObjectMeta, &old.ObjectMeta)
	c.Status.Devices = withoutDevices(c.Status.Devices, deallocatedDevices(c, old))
	dropSkippedOperations(c, old)
}

// deviceID identifies a device, or a share of it.
type deviceID struct{ Driver, Pool, Device, ShareID string }

// allocatedID returns what a result of an allocation is about.
func allocatedID(r *resourcev1.DeviceRequestAllocationResult) deviceID {
	return deviceID{r.Driver, r.Pool, r.Device, string(ptr.Deref(r.ShareID, ""))}
}

// statusID returns what a status is about.
func statusID(s *resourcev1.AllocatedDeviceStatus) deviceID {
	return deviceID{s.Driver, s.Pool, s.Device, ptr.Deref(s.ShareID, "")}
}

// deallocatedDevices returns the devices that old has allocated and c has not.
func deallocatedDevices(c, old *resourcev1.ResourceClaim) map[deviceID]bool {
	gone := make(map[deviceID]bool)
	for _, r := range allocated(old) {
		gone[allocatedID(&r)] = true
	}
	for _, r := range allocated(c) {
		delete(gone, allocatedID(&r))
	}
	return gone
}

// withoutDevices returns what devices has of other devices than those of gone, nil if there is
// nothing.
func withoutDevices(devices []resourcev1.AllocatedDeviceStatus, gone map[deviceID]bool) (kept []resourcev1.AllocatedDeviceStatus) {
	for i := range devices {
		if !gone[statusID(&devices[i])] {
			kept = append(kept, devices[i])
		}
	}
	return kept
}

// dropSkippedOperations clears the field of the feature gate DRAOptionalNodeOperations, which is
// off, unless old has it.
func dropSkippedOperations(c, old *resourcev1.ResourceClaim) {
	for _, r := range allocated(old) {
		if len(r.SkipNodeOperations) > 0 {
			return
		}
	}
	for i, results := 0, allocated(c); i < len(results); i++ {
		results[i].SkipNodeOperations = nil
	}
}

// allocated returns the allocated devices of a claim.
func allocated(c *resourcev1.ResourceClaim) []resourcev1.DeviceRequestAllocationResult {
	if c.Status.Allocation == nil {
		return nil
	}
	return c.Status.Allocation.Devices.Results
}
