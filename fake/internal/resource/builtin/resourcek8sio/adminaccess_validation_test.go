package resourcek8sio

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateAdminAccess(t *testing.T) {
	claim := func(requests, results bool) *resourcev1.ResourceClaim {
		request := resourcev1.ExactDeviceRequest{DeviceClassName: "c", AllocationMode: resourcev1.DeviceAllocationModeAll, AdminAccess: &requests}
		result := resourcev1.DeviceRequestAllocationResult{Request: "gpu", Driver: "d.example.com", Pool: "p", Device: "g0", AdminAccess: &results}
		return &resourcev1.ResourceClaim{
			Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
				{Name: "any", FirstAvailable: []resourcev1.DeviceSubRequest{{Name: "a", DeviceClassName: "c", AllocationMode: resourcev1.DeviceAllocationModeAll}}},
				{Name: "gpu", Exactly: &request},
			}}},
			Status: resourcev1.ResourceClaimStatus{Allocation: &resourcev1.AllocationResult{
				Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{result}},
			}},
		}
	}
	const detail = "Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace"
	const requestPath, resultPath = "spec.devices.requests[1].adminAccess: ", "status.allocation.devices.results[0].adminAccess: "
	for name, c := range map[string]struct {
		labels                   map[string]string
		claim                    *resourcev1.ResourceClaim
		wantCreate, wantAllocate []string
	}{
		"no admin access":  {nil, claim(false, false), nil, nil},
		"no label":         {nil, claim(true, true), []string{requestPath + detail}, []string{resultPath + detail}},
		"the label":        {map[string]string{"resource.kubernetes.io/admin-access": "true"}, claim(true, true), nil, nil},
		"another value":    {map[string]string{"resource.kubernetes.io/admin-access": "yes"}, claim(true, false), []string{requestPath + detail}, nil},
		"a result with it": {nil, claim(false, true), nil, []string{resultPath + detail}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := resource.WithNamespace(t.Context(), func() (*corev1.Namespace, error) {
				return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Labels: c.labels}}, nil
			})
			template := &resourcev1.ResourceClaimTemplate{Spec: resourcev1.ResourceClaimTemplateSpec{Spec: c.claim.Spec}}
			require.Equal(t, c.wantCreate, validatetest.Texts(validateNewResourceClaim(ctx, c.claim, nil)))
			require.Equal(t, c.wantCreate, validatetest.Texts(validateNewResourceClaimTemplate(ctx, template, nil)))
			require.Equal(t, c.wantAllocate, validatetest.Texts(validateResourceClaimStatus(ctx, c.claim, &resourcev1.ResourceClaim{})))
			require.Empty(t, validateResourceClaimStatus(ctx, claim(true, true), claim(true, true)))
		})
	}
	metadata := field.ErrorList{field.Required(field.NewPath("metadata", "name"), "")}
	require.Equal(t, metadata, validateNewResourceClaim(t.Context(), claim(true, true), metadata), "a namespace that is not known")
	gone := resource.WithNamespace(t.Context(), func() (*corev1.Namespace, error) { return nil, errors.New("gone") })
	require.Equal(t, []string{requestPath + "Internal error: could not retrieve namespace to verify admin access: gone"},
		validatetest.Texts(validateNewResourceClaim(gone, claim(true, true), nil)))
}
