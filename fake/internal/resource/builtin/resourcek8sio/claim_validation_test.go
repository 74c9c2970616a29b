package resourcek8sio

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func selector(expression string) []resourcev1.DeviceSelector {
	return []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}}
}

func opaque(parameters string) resourcev1.DeviceConfiguration {
	return resourcev1.DeviceConfiguration{Opaque: &resourcev1.OpaqueDeviceConfiguration{Driver: "d.example.com", Parameters: runtime.RawExtension{Raw: []byte(parameters)}}}
}

const refDetail = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

func TestValidateClaimSpec(t *testing.T) {
	exact := func(change func(*resourcev1.ExactDeviceRequest)) func(*resourcev1.DeviceClaim) {
		return func(d *resourcev1.DeviceClaim) { change(d.Requests[0].Exactly) }
	}
	for name, c := range map[string]struct {
		change func(*resourcev1.DeviceClaim)
		want   []string
	}{
		"valid": {func(d *resourcev1.DeviceClaim) {
			d.Constraints = []resourcev1.DeviceConstraint{{Requests: []string{"gpu", "any", "any/big"}, MatchAttribute: new(resourcev1.FullyQualifiedName("example.com/model"))}}
			d.Config = []resourcev1.DeviceClaimConfiguration{{Requests: []string{"gpu"}, DeviceConfiguration: opaque(`{"a":1}`)}}
		}, nil},
		"names": {func(d *resourcev1.DeviceClaim) { d.Requests[0].Name, d.Requests[1].FirstAvailable[0].Name = "G", "" }, []string{
			`spec.devices.requests[0].name: Invalid value: "G": ` + labelDetail, `spec.devices.requests[1].firstAvailable[0].name: Invalid value: "": ` + labelDetail,
		}},
		"nothing":      {func(d *resourcev1.DeviceClaim) { d.Requests[0].Exactly = nil }, []string{"spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"}},
		"both":         {func(d *resourcev1.DeviceClaim) { d.Requests[1].Exactly = d.Requests[0].Exactly }, []string{"spec.devices.requests[1]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"}},
		"no class":     {exact(func(r *resourcev1.ExactDeviceRequest) { r.DeviceClassName = "" }), []string{"spec.devices.requests[0].exactly.deviceClassName: Required value"}},
		"no count":     {exact(func(r *resourcev1.ExactDeviceRequest) { r.Count = -1 }), []string{"spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero"}},
		"count of all": {exact(func(r *resourcev1.ExactDeviceRequest) { r.AllocationMode = "All" }), []string{"spec.devices.requests[0].exactly.count: Invalid value: 1: must not be specified when allocationMode is 'All'"}},
		"tolerations": {exact(func(r *resourcev1.ExactDeviceRequest) {
			r.Tolerations = []resourcev1.DeviceToleration{{Operator: "Exists", Value: "a"}, {Operator: "Equal", Value: "a"}, {Operator: "Equal", Value: "-"}}
		}), []string{
			"spec.devices.requests[0].exactly.tolerations[0].value: Invalid value: \"a\": must be empty for operator `Exists`",
			`spec.devices.requests[0].exactly.tolerations[2].value: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
		}},
		"selectors": {exact(func(r *resourcev1.ExactDeviceRequest) {
			r.Selectors = append(selector("device.driver == 'd'"), append(selector("1"), resourcev1.DeviceSelector{})...)
		}), []string{
			`spec.devices.requests[0].exactly.selectors[1].cel.expression: Invalid value: "1": must evaluate to bool or the unknown type, not int`,
			"spec.devices.requests[0].exactly.selectors[2].cel: Required value",
		}},
		"an expression that does not compile": {exact(func(r *resourcev1.ExactDeviceRequest) { r.Selectors = selector("x") }),
			[]string{`spec.devices.requests[0].exactly.selectors[0].cel.expression: Invalid value: "x": compilation failed: ERROR: <input>:1:1: undeclared reference to 'x' (in container '')` + "\n | x\n | ^"}},
		"an expensive expression": {exact(func(r *resourcev1.ExactDeviceRequest) {
			r.Selectors = selector(`device.attributes["a.b"].map(s, s.lowerAscii().map(x, s.size() * x.size())).exists(y, y.exists(z, z > 1)) && "` + strings.Repeat("x", 10000) + `".matches("` + strings.Repeat("x", 100) + `*")`)
		}), []string{"spec.devices.requests[0].exactly.selectors[0].cel.expression"}},
		"a long expression": {exact(func(r *resourcev1.ExactDeviceRequest) { r.Selectors = selector(strings.Repeat("x", 10241)) }),
			[]string{"spec.devices.requests[0].exactly.selectors[0].cel.expression: Too long: may not be more than 10240 bytes"}},
		"references": {func(d *resourcev1.DeviceClaim) {
			d.Constraints = []resourcev1.DeviceConstraint{{Requests: []string{"cpu", "gpu/big", "a/b/c"}}}
		}, []string{
			`spec.devices.constraints[0].requests[0]: Invalid value: "cpu": ` + refDetail,
			`spec.devices.constraints[0].requests[1]: Invalid value: "gpu/big": ` + refDetail,
			`spec.devices.constraints[0].requests[2]: Invalid value: "a/b/c": ` + refDetail,
			`spec.devices.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`,
		}},
		"parameters": {func(d *resourcev1.DeviceClaim) {
			d.Config = []resourcev1.DeviceClaimConfiguration{
				{DeviceConfiguration: opaque("")}, {DeviceConfiguration: opaque("null")}, {DeviceConfiguration: opaque("1")}, {DeviceConfiguration: opaque("{")},
				{DeviceConfiguration: opaque(strings.Repeat("x", 10241))}, {},
			}
		}, []string{
			"spec.devices.config[0].opaque.parameters: Required value", "spec.devices.config[1].opaque.parameters: Required value",
			`spec.devices.config[2].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object`,
			`spec.devices.config[3].opaque.parameters: Invalid value: "<value omitted>": error parsing data as JSON: unexpected end of JSON input`,
			"spec.devices.config[4].opaque.parameters: Too long: may not be more than 10240 bytes",
			"spec.devices.config[5].opaque: Required value",
		}},
		"long lists": {func(d *resourcev1.DeviceClaim) { // the validation of tags refuses them
			*d = resourcev1.DeviceClaim{
				Requests: make([]resourcev1.DeviceRequest, 33), Constraints: make([]resourcev1.DeviceConstraint, 33), Config: make([]resourcev1.DeviceClaimConfiguration, 33),
			}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			claim := &resourcev1.ResourceClaim{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
				{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"}},
				{Name: "any", FirstAvailable: []resourcev1.DeviceSubRequest{{Name: "big", DeviceClassName: "big"}}},
			}}}}
			setResourceClaimDefaults(claim)
			c.change(&claim.Spec.Devices)
			errs := validateResourceClaim(claim)
			if name == "an expensive expression" {
				require.Len(t, errs, 1)
				require.Equal(t, c.want[0], errs[0].Field)
				return
			}
			require.Equal(t, c.want, validatetest.Texts(errs))
		})
	}
}

const labelDetail = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

func TestSelectorCost(t *testing.T) {
	loop := "device.attributes.all(d, "
	errs := validateExpression(strings.Repeat(loop, 4)+"true"+strings.Repeat(")", 4), nil)
	require.Equal(t, field.ErrorList{field.Forbidden(nil, "too complex, exceeds cost limit")}, errs)
	require.Empty(t, validateExpression(loop+"true)", nil))
}

func TestValidateResourceClaimTemplate(t *testing.T) {
	template := &resourcev1.ResourceClaimTemplate{Spec: resourcev1.ResourceClaimTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"a": "b"}},
		Spec:       resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "gpu"}}}},
	}}
	require.Equal(t, []string{
		"spec.metadata.name: Forbidden: cannot be set",
		"spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required",
	}, validatetest.Texts(validateResourceClaimTemplate(template)))
	old := template.DeepCopy()
	require.Empty(t, validateResourceClaimTemplateUpdate(template, old))
	old.Spec.Name = ""
	require.Len(t, validateResourceClaimTemplateUpdate(template, old), 1)
}

func TestValidateDeviceClass(t *testing.T) {
	class := &resourcev1.DeviceClass{Spec: resourcev1.DeviceClassSpec{
		Selectors: selector("x"), Config: []resourcev1.DeviceClassConfiguration{{DeviceConfiguration: opaque(`{"a":"` + strings.Repeat("x", 10240) + `"}`)}},
	}}
	require.Len(t, validateDeviceClass(class), 2)
	require.Empty(t, validateDeviceClassUpdate(class, class.DeepCopy()))
	old := class.DeepCopy()
	old.Spec.Selectors = append(old.Spec.Selectors, old.Spec.Selectors...)
	require.Len(t, validateDeviceClassUpdate(class, old), 1)
}

func TestValidateResourceClaimStatus(t *testing.T) {
	result := resourcev1.DeviceRequestAllocationResult{Request: "gpu", Driver: "d.example.com", Pool: "p", Device: "g0"}
	device := resourcev1.AllocatedDeviceStatus{Driver: "d.example.com", Pool: "p", Device: "g0"}
	consumer := resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: "web", UID: "1"}
	for name, c := range map[string]struct {
		change func(c, old *resourcev1.ResourceClaim)
		want   []string
	}{
		"valid": {func(c, _ *resourcev1.ResourceClaim) {
			c.Status.ReservedFor, c.Status.Devices = append(c.Status.ReservedFor, consumer), []resourcev1.AllocatedDeviceStatus{device}
		}, nil},
		"an incomplete consumer": {func(c, _ *resourcev1.ResourceClaim) {
			c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{}}
		}, []string{"status.reservedFor[0].resource: Required value", "status.reservedFor[0].name: Required value", "status.reservedFor[0].uid: Required value"}},
		"reserved, not allocated": {func(c, _ *resourcev1.ResourceClaim) {
			c.Status.ReservedFor, c.Status.Allocation = []resourcev1.ResourceClaimConsumerReference{consumer}, nil
		}, []string{"status.reservedFor: Forbidden: may not be specified when `allocated` is not set"}},
		"reserved while deleted": {func(c, _ *resourcev1.ResourceClaim) {
			c.DeletionTimestamp, c.Status.ReservedFor = &metav1.Time{}, []resourcev1.ResourceClaimConsumerReference{consumer}
		}, []string{"status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"}},
		"still reserved while deleted": {func(c, old *resourcev1.ResourceClaim) {
			c.DeletionTimestamp, c.Status.ReservedFor = &metav1.Time{}, []resourcev1.ResourceClaimConsumerReference{consumer}
			old.Status.ReservedFor = append(c.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{UID: "2"})
		}, nil},
		"another device": {func(c, _ *resourcev1.ResourceClaim) {
			other := device
			other.Device, other.ShareID = "g1", new("s")
			c.Status.Devices = []resourcev1.AllocatedDeviceStatus{other}
		}, []string{`status.devices[0]: Invalid value: {"Driver":"d.example.com","Pool":"p","Device":"g1","ShareID":"s"}: must be an allocated device in the claim`}},
		"data": {func(c, _ *resourcev1.ResourceClaim) {
			d := device
			d.Data, d.NetworkData = &runtime.RawExtension{Raw: []byte("[]")}, &resourcev1.NetworkDeviceData{IPs: []string{"10.0.0.1/24", "10.0.0.1"}}
			d.Conditions = make([]metav1.Condition, 9)
			c.Status.Devices = []resourcev1.AllocatedDeviceStatus{d}
		}, []string{
			"status.devices[0].conditions: Too many: 9: must have at most 8 items",
			`status.devices[0].data: Invalid value: "<value omitted>": must be a valid JSON object`,
			`status.devices[0].networkData.ips[1]: Invalid value: "10.0.0.1": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)`,
		}},
		"an allocation": {func(c, old *resourcev1.ResourceClaim) {
			old.Status.Allocation = nil
			r := &c.Status.Allocation.Devices.Results[0]
			r.Request, r.Device, r.BindingConditions = "cpu", "", []string{"a", "a"}
			c.Status.Allocation.Devices.Config = []resourcev1.DeviceAllocationConfiguration{{Requests: []string{"cpu"}}}
			c.Status.Allocation.NodeSelector = &corev1.NodeSelector{}
		}, []string{
			`status.allocation.devices.results[0].request: Invalid value: "cpu": ` + refDetail,
			`status.allocation.devices.results[0].device: Invalid value: "": ` + labelDetail,
			`status.allocation.devices.results[0].bindingConditions[1]: Duplicate value: "a"`,
			"status.allocation.devices.results[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions",
			`status.allocation.devices.config[0].requests[0]: Invalid value: "cpu": ` + refDetail,
			"status.allocation.devices.config[0].opaque: Required value",
			"status.allocation.nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			claim := &resourcev1.ResourceClaim{
				Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "gpu"}}}},
				Status: resourcev1.ResourceClaimStatus{Allocation: &resourcev1.AllocationResult{
					Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{result}},
				}},
			}
			old := claim.DeepCopy()
			c.change(claim, old)
			got := validatetest.Texts(validateResourceClaimStatusUpdate(claim, old))
			if name == "data" { // the conditions have many errors
				require.Subset(t, got, c.want)
				return
			}
			require.Equal(t, c.want, got)
		})
	}
	shared := result
	shared.ShareID = new(types.UID("s"))
	c := &resourcev1.ResourceClaim{}
	c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{shared}}}
	c.Status.Devices = []resourcev1.AllocatedDeviceStatus{device}
	require.Len(t, validateResourceClaimStatusUpdate(c, c), 1, "a share of a device is not the device")
}
