package resourcek8sio

import (
	"testing"

	"github.com/stretchr/testify/require"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestRequestDefaults(t *testing.T) {
	tolerations := func(first resourcev1.DeviceTolerationOperator) []resourcev1.DeviceToleration {
		return []resourcev1.DeviceToleration{{Operator: first}, {Operator: resourcev1.DeviceTolerationOpExists}}
	}
	requests := []resourcev1.DeviceRequest{
		{Exactly: &resourcev1.ExactDeviceRequest{Tolerations: tolerations("")}},
		{Exactly: &resourcev1.ExactDeviceRequest{AllocationMode: resourcev1.DeviceAllocationModeAll}},
		{FirstAvailable: []resourcev1.DeviceSubRequest{{Tolerations: tolerations("")}, {Count: 3}}},
	}
	want := []resourcev1.DeviceRequest{
		{Exactly: &resourcev1.ExactDeviceRequest{AllocationMode: "ExactCount", Count: 1, Tolerations: tolerations("Equal")}},
		{Exactly: &resourcev1.ExactDeviceRequest{AllocationMode: "All"}},
		{FirstAvailable: []resourcev1.DeviceSubRequest{
			{AllocationMode: "ExactCount", Count: 1, Tolerations: tolerations("Equal")}, {AllocationMode: "ExactCount", Count: 3},
		}},
	}
	claim := &resourcev1.ResourceClaim{Status: resourcev1.ResourceClaimStatus{Allocation: &resourcev1.AllocationResult{}}}
	for _, r := range requests {
		claim.Spec.Devices.Requests = append(claim.Spec.Devices.Requests, *r.DeepCopy())
	}
	claim.Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Tolerations: tolerations("")}}
	setResourceClaimDefaults(claim)
	require.Equal(t, want, claim.Spec.Devices.Requests)
	require.Equal(t, tolerations("Equal"), claim.Status.Allocation.Devices.Results[0].Tolerations)

	template := &resourcev1.ResourceClaimTemplate{}
	template.Spec.Spec.Devices.Requests = requests
	setResourceClaimTemplateDefaults(template)
	require.Equal(t, want, template.Spec.Spec.Devices.Requests)
}

func TestDropDerivedAttributes(t *testing.T) {
	derived := make([]resourcev1.DeviceDerivedAttribute, 1)
	with := func() []resourcev1.DeviceRequest {
		return []resourcev1.DeviceRequest{
			{Exactly: &resourcev1.ExactDeviceRequest{DerivedAttributes: derived}},
			{FirstAvailable: []resourcev1.DeviceSubRequest{{DerivedAttributes: derived}}},
		}
	}
	without := []resourcev1.DeviceRequest{{Exactly: &resourcev1.ExactDeviceRequest{}}, {FirstAvailable: make([]resourcev1.DeviceSubRequest, 1)}}

	claim, stored := &resourcev1.ResourceClaim{}, &resourcev1.ResourceClaim{}
	claim.Spec.Devices.Requests = with()
	prepareResourceClaimForCreate(t.Context(), claim)
	require.Equal(t, without, claim.Spec.Devices.Requests)
	for _, old := range [][]resourcev1.DeviceRequest{with()[:1], with()[1:]} {
		claim.Spec.Devices.Requests, stored.Spec.Devices.Requests = with(), old
		prepareResourceClaimForUpdate(t.Context(), claim, stored)
		require.Equal(t, with(), claim.Spec.Devices.Requests, "the field is in use")
	}

	template := &resourcev1.ResourceClaimTemplate{}
	template.Spec.Spec.Devices.Requests = with()
	prepareResourceClaimTemplateForUpdate(t.Context(), template, &resourcev1.ResourceClaimTemplate{})
	require.Equal(t, without, template.Spec.Spec.Devices.Requests)
	template.Spec.Spec.Devices.Requests = with()
	prepareResourceClaimTemplateForCreate(t.Context(), template)
	require.Equal(t, without, template.Spec.Spec.Devices.Requests)
}

func TestPrepareResourceClaimStatus(t *testing.T) {
	claim := func(skip []resourcev1.SkipNodeOperation, results []string, devices ...string) *resourcev1.ResourceClaim {
		c := &resourcev1.ResourceClaim{Status: resourcev1.ResourceClaimStatus{Allocation: &resourcev1.AllocationResult{}}}
		for _, name := range results {
			c.Status.Allocation.Devices.Results = append(c.Status.Allocation.Devices.Results,
				resourcev1.DeviceRequestAllocationResult{Driver: "d", Pool: "p", Device: name, SkipNodeOperations: skip})
		}
		for _, name := range devices {
			c.Status.Devices = append(c.Status.Devices, resourcev1.AllocatedDeviceStatus{Driver: "d", Pool: "p", Device: name})
		}
		return c
	}
	skip := []resourcev1.SkipNodeOperation{resourcev1.SkipNodeOperationAll}
	for name, c := range map[string]struct{ claim, old, want *resourcev1.ResourceClaim }{
		"a device is gone":      {claim(nil, []string{"b"}, "a", "b"), claim(nil, []string{"a", "b"}), claim(nil, []string{"b"}, "b")},
		"all devices are gone":  {claim(nil, nil, "a"), claim(nil, []string{"a"}), claim(nil, nil)},
		"was never allocated":   {claim(nil, []string{"a"}, "c"), claim(nil, nil), claim(nil, []string{"a"}, "c")},
		"disabled field":        {claim(skip, []string{"a"}), claim(nil, []string{"a"}), claim(nil, []string{"a"})},
		"disabled field in use": {claim(skip, []string{"a"}), claim(skip, []string{"a"}), claim(skip, []string{"a"})},
	} {
		t.Run(name, func(t *testing.T) {
			c.claim.Labels = map[string]string{"a": "b"}
			c.claim.Spec.Devices.Requests = make([]resourcev1.DeviceRequest, 1)
			prepareResourceClaimStatus(t.Context(), c.claim, c.old)
			require.Equal(t, c.want, c.claim)
		})
	}

	shared, old := claim(nil, []string{"a"}, "a", "a"), claim(nil, []string{"a", "a"})
	shared.Status.Devices[0].ShareID, shared.Status.Devices[1].ShareID = new("s1"), new("s2")
	shared.Status.Allocation.Devices.Results[0].ShareID = new(types.UID("s2"))
	old.Status.Allocation.Devices.Results[0].ShareID, old.Status.Allocation.Devices.Results[1].ShareID = new(types.UID("s1")), new(types.UID("s2"))
	prepareResourceClaimStatus(t.Context(), shared, old)
	require.Len(t, shared.Status.Devices, 1)
	require.Equal(t, "s2", *shared.Status.Devices[0].ShareID)

	deallocated := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
	prepareResourceClaimStatus(t.Context(), deallocated, claim(nil, []string{"a"}, "a"))
	require.Empty(t, deallocated.Status)
}
