package resourcek8sio

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/resource/validate"
	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func newSlice(change func(*resourcev1.ResourceSliceSpec)) *resourcev1.ResourceSlice {
	s := &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{
		Driver: "d.example.com", Pool: resourcev1.ResourcePool{Name: "p/q", ResourceSliceCount: 1}, NodeName: new("n1"),
		Devices: []resourcev1.Device{{Name: "g0"}},
	}}
	change(&s.Spec)
	return s
}

func TestValidateResourceSlice(t *testing.T) {
	type spec = resourcev1.ResourceSliceSpec
	device := func(change func(*resourcev1.Device)) func(*spec) { return func(s *spec) { change(&s.Devices[0]) } }
	const oneWay = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	const ownWay = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
	for name, c := range map[string]struct {
		change func(*spec)
		want   []string
	}{
		"valid": {func(s *spec) {
			s.NodeName, s.AllNodes = nil, new(true)
			s.Devices[0].Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"model": {StringValue: new(strings.Repeat("x", 64))}, "example.com/version": {VersionValue: new("1.2.3-a.1+b")},
			}
			s.Devices[0].Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("8Gi")}}
			s.Devices[0].BindingConditions, s.Devices[0].BindingFailureConditions = []string{"a"}, []string{"b"}
		}, nil},
		"pool": {func(s *spec) { s.Pool = resourcev1.ResourcePool{Generation: -1} }, []string{
			"spec.pool.name: Required value", "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
			"spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
		}},
		"a long name of a pool": {func(s *spec) { s.Pool.Name = strings.Repeat("a/", 127) + "a" }, []string{"spec.pool.name: Too long: may not be more than 253 bytes"}},
		"no nodes":              {func(s *spec) { s.NodeName = nil }, []string{"spec: Required value: " + oneWay}},
		"two ways": {func(s *spec) { s.AllNodes, s.PerDeviceNodeSelection = new(true), new(false) }, []string{
			"spec.perDeviceNodeSelection: Invalid value: false: must be either unset or set to true",
			"spec: Invalid value: \"{`nodeName`, `allNodes`}\": " + oneWay + ", but multiple fields are set",
		}},
		"not all nodes": {func(s *spec) { s.NodeName, s.AllNodes = new(""), new(false) }, []string{
			`spec.nodeName: Invalid value: "": must be either unset or set to a non-empty string`,
			"spec.allNodes: Invalid value: false: must be either unset or set to true", "spec: Required value: " + oneWay,
		}},
		"two terms": {func(s *spec) {
			s.NodeName, s.NodeSelector = nil, &corev1.NodeSelector{NodeSelectorTerms: make([]corev1.NodeSelectorTerm, 2)}
		}, []string{`spec.nodeSelector.nodeSelectorTerms: Invalid value: [{"MatchExpressions":null,"MatchFields":null},{"MatchExpressions":null,"MatchFields":null}]: must have exactly one node selector term`}},
		"counters and devices": {func(s *spec) {
			s.SharedCounters = []resourcev1.CounterSet{{Counters: counters(33)}}
		}, []string{
			`spec: Invalid value: "": only one of ` + "`sharedCounters` or `devices` is allowed",
			"spec.sharedCounters[0].counters: Too many: 33: must have at most 32 items",
		}},
		"129 devices": {func(s *spec) { s.Devices = make([]resourcev1.Device, 129) }, []string{"spec.devices: Too many: 129: must have at most 128 items"}},
		"65 devices": {func(s *spec) {
			s.Devices = make([]resourcev1.Device, 65)
			s.Devices[64].Taints = make([]resourcev1.DeviceTaint, 1)
		}, []string{"spec.devices: Too many: 65: must have at most 64 items"}},
		"a name twice": {func(s *spec) { s.Devices = append(s.Devices, s.Devices...) }, []string{`spec.devices[1]: Duplicate value: "g0"`}},
		"attributes": {device(func(d *resourcev1.Device) {
			d.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"a/b/c": {}, "/": {}, "no-id": {StringValue: new(strings.Repeat("x", 65))}, "v": {VersionValue: new("1.0")},
				"w": {VersionValue: new("1.0.0-" + strings.Repeat("x", 59))},
			}
		}), []string{
			`spec.devices[0].attributes: Invalid value: "": the domain must not be empty`, `spec.devices[0].attributes: Invalid value: "": the name must not be empty`,
			`spec.devices[0].attributes: Invalid value: "no-id": a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')`,
			"spec.devices[0].attributes[no-id].string: Too long: may not be more than 64 bytes",
			`spec.devices[0].attributes[v].version: Invalid value: "1.0": must be a string compatible with semver.org spec 2.0.0`,
			"spec.devices[0].attributes[w].version: Too long: may not be more than 64 bytes",
		}},
		"a long name": {device(func(d *resourcev1.Device) {
			d.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{resourcev1.QualifiedName(strings.Repeat("x", 100)): {RequestPolicy: &resourcev1.CapacityRequestPolicy{}}}
		}), []string{
			"spec.devices[0].capacity: Too long: may not be more than 32 bytes",
			"spec.devices[0].capacity[" + strings.Repeat("x", 47) + "..." + strings.Repeat("x", 46) + "].requestPolicy: Forbidden: allowMultipleAllocations must be true",
		}},
		"33 attributes": {device(func(d *resourcev1.Device) {
			d.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}
			for i := range 49 {
				d.Attributes[resourcev1.QualifiedName(fmt.Sprint("a", i))] = resourcev1.DeviceAttribute{}
			}
		}), []string{
			"spec.devices[0]: Invalid value: 49: the total number of attributes and capacities must not exceed 32",
			"spec.devices[0]: Invalid value: 49: the total number of attribute values must not exceed 48",
		}},
		"taints": {device(func(d *resourcev1.Device) { d.Taints = make([]resourcev1.DeviceTaint, 17) }), []string{"spec.devices[0].taints: Too many: 17: must have at most 16 items"}},
		"33 counters": {device(func(d *resourcev1.Device) {
			d.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{Counters: counters(33)}}
		}), []string{"spec.devices[0].consumesCounters[0].counters: Too many: 33: must have at most 32 items"}},
		"nodes of a device": {device(func(d *resourcev1.Device) { d.NodeName = new("n1") }),
			[]string{"spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec"}},
		"all nodes of a device": {device(func(d *resourcev1.Device) { d.AllNodes = new(true) }),
			[]string{"spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec"}},
		"not shared": {device(func(d *resourcev1.Device) {
			d.AllowMultipleAllocations = new(false)
			d.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"c": {RequestPolicy: &resourcev1.CapacityRequestPolicy{}}}
		}), []string{"spec.devices[0].capacity[c].requestPolicy: Forbidden: allowMultipleAllocations must be true"}},
		"nodes of each device": {func(s *spec) {
			s.NodeName, s.PerDeviceNodeSelection = nil, new(true)
			s.Devices = []resourcev1.Device{{Name: "a"}, {Name: "b", NodeName: new("n1"), AllNodes: new(true)}, {Name: "c", NodeName: new("")}, {Name: "d", AllNodes: new(true)}}
		}, []string{
			"spec.devices[0]: Required value: " + ownWay,
			"spec.devices[1]: Invalid value: \"{`nodeName`, `allNodes`}\": " + ownWay,
			`spec.devices[2].nodeName: Invalid value: "": must not be empty`, "spec.devices[2]: Required value: " + ownWay,
		}},
		"conditions": {device(func(d *resourcev1.Device) {
			d.BindingConditions, d.BindingFailureConditions = []string{"a", "-"}, []string{"a", "b", "b"}
		}), []string{
			`spec.devices[0].bindingConditions[1]: Invalid value: "-": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
			`spec.devices[0].bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not overlap with bindingConditions`,
			`spec.devices[0].bindingFailureConditions[2]: Duplicate value: "b"`,
		}},
		"conditions of failure only": {device(func(d *resourcev1.Device) { d.BindingFailureConditions = []string{"a"} }),
			[]string{"spec.devices[0].bindingConditions: Invalid value: null: bindingConditions are required to use bindingFailureConditions"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, validatetest.Texts(validateResourceSlice(newSlice(c.change))))
		})
	}
}

func counters(n int) map[string]resourcev1.Counter {
	m := make(map[string]resourcev1.Counter)
	for i := range n {
		m[fmt.Sprint("c", i)] = resourcev1.Counter{}
	}
	return m
}

func TestValidateResourceSliceUpdate(t *testing.T) {
	invalid := newSlice(func(s *resourcev1.ResourceSliceSpec) {
		s.Devices[0].Taints = []resourcev1.DeviceTaint{{Key: "-", Value: "-"}}
		s.Devices[0].Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"-": {}}
	})
	require.Len(t, validateResourceSlice(invalid), 3)
	require.Empty(t, validateResourceSliceUpdate(invalid, invalid.DeepCopy()))
	renamed := newSlice(func(s *resourcev1.ResourceSliceSpec) { s.Driver, s.Pool.Name, s.NodeName = "D", "o", new("n2") })
	require.Equal(t, []string{
		`spec.pool.name: Invalid value: "o": field is immutable`, `spec.driver: Invalid value: "D": field is immutable`, `spec.nodeName: Invalid value: "n2": field is immutable`,
	}, validatetest.Texts(validateResourceSliceUpdate(renamed, newSlice(func(*resourcev1.ResourceSliceSpec) {}))))
	want := []string{`spec.driver: driver names should be lowercase; "D" contains uppercase characters`}
	require.Equal(t, want, resourceSliceWarnings(renamed))
	require.Equal(t, want, resourceSliceUpdateWarnings(renamed, nil))
	require.Empty(t, resourceSliceWarnings(invalid))
}

func TestValidateRequestPolicy(t *testing.T) {
	var root *validate.Path
	q := resource.MustParse
	amounts := func(texts ...string) (amounts []resource.Quantity) {
		for _, text := range texts {
			amounts = append(amounts, q(text))
		}
		return amounts
	}
	ranged := func(byDefault, least, most, step string) *resourcev1.CapacityRequestPolicy {
		r := &resourcev1.CapacityRequestPolicyRange{}
		for text, at := range map[string]**resource.Quantity{least: &r.Min, most: &r.Max, step: &r.Step} {
			if text != "" {
				*at = new(q(text))
			}
		}
		return &resourcev1.CapacityRequestPolicy{Default: new(q(byDefault)), ValidRange: r}
	}
	for name, c := range map[string]struct {
		policy *resourcev1.CapacityRequestPolicy
		want   []string
	}{
		"none":              {&resourcev1.CapacityRequestPolicy{}, nil},
		"values":            {&resourcev1.CapacityRequestPolicy{Default: new(q("1Gi")), ValidValues: amounts("1Gi", "2Gi")}, nil},
		"a range":           {ranged("3", "1", "5", "2"), nil},
		"both":              {&resourcev1.CapacityRequestPolicy{ValidValues: amounts("1"), ValidRange: &resourcev1.CapacityRequestPolicyRange{}}, []string{`policy: Forbidden: exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`}},
		"no default":        {&resourcev1.CapacityRequestPolicy{ValidValues: amounts("1")}, []string{"policy.default: Required value: required when validValues is defined"}},
		"no default, range": {&resourcev1.CapacityRequestPolicy{ValidRange: &resourcev1.CapacityRequestPolicyRange{}}, []string{"policy.default: Required value: required when validRange is defined"}},
		"no minimum":        {ranged("1", "", "2", ""), []string{"policy.validRange.min: Required value: required when validRange is defined"}},
		"bad values": {&resourcev1.CapacityRequestPolicy{Default: new(q("3")), ValidValues: amounts("2", "2", "1", "9Gi")}, []string{
			`policy.validValues[2]: Invalid value: "1": values must be sorted in ascending order`,
			`policy.validValues[3]: Invalid value: "9Gi": option is larger than capacity value: 8Gi`,
			`policy.validValues[1]: Duplicate value: "2"`, `policy.validValues: Invalid value: "3": default value is not valid according to the requestPolicy`,
		}},
		"11 values": {&resourcev1.CapacityRequestPolicy{Default: new(q("1")), ValidValues: make([]resource.Quantity, 11)}, []string{
			"policy.validValues: Too many: 11: must have at most 10 items", `policy.validValues: Invalid value: "1": default value is not valid according to the requestPolicy`,
		}},
		"a large minimum": {ranged("1", "9Gi", "", ""), []string{
			`policy.validRange.min: Invalid value: "9Gi": min is larger than capacity value: 8Gi`, `policy.validRange.min: Invalid value: "1": default is less than min: 9Gi`,
		}},
		"a small maximum": {ranged("3", "2", "1", ""), []string{
			`policy.validRange.max: Invalid value: "2": min is larger than max: 1`, `policy.validRange.max: Invalid value: "3": default is more than max: 1`,
		}},
		"a large maximum": {ranged("3", "2", "9Gi", ""), []string{`policy.validRange.max: Invalid value: "9Gi": max is larger than capacity value: 8Gi`}},
		"no step":         {ranged("1", "1", "", "0"), []string{`policy.validRange.step: Invalid value: "0": must be greater than zero`}},
		"a large step": {ranged("1", "1", "", "8Gi"),
			[]string{`policy.validRange.step: Invalid value: "8Gi": one step 8589934593 is larger than capacity value: 8Gi`}},
		"a negative minimum":          {ranged("0", "-1", "", "1"), []string{`policy.validRange.min: Invalid value: "-1": must be greater than or equal to 0`}},
		"a negative minimum, no step": {ranged("0", "-1", "", ""), nil},
		"thousandths":                 {ranged("250m", "200m", "1", "100m"), nil},
		"millionths":                  {ranged("20u", "10u", "", "1"), nil},
		"values with fractions": {&resourcev1.CapacityRequestPolicy{Default: new(q("100m")), ValidValues: amounts("100m", "200m", "1", "1001m")}, []string{
			`policy.validValues[1]: Duplicate value: "1"`, `policy.validValues[2]: Duplicate value: "1"`,
		}},
		"between steps": {ranged("2", "1", "4", "2"), []string{
			`policy.validRange.step: Invalid value: "2": value is not a multiple of a given step (2) from (1)`,
			`policy.validRange.step: Invalid value: "4": value is not a multiple of a given step (2) from (1)`,
		}},
		"a huge step": {ranged("0", "0", "", "18446744073709551616"), []string{
			`policy.validRange.step: Invalid value: "18446744073709551616": one step 18446744073709551616 is larger than capacity value: 8Gi`,
			`policy.validRange.step: Invalid value: "18446744073709551616": must not be larger than 9223372036854775807`,
		}},
		"huge bounds": {ranged("18446744073709551616", "9223372036854775807", "9223372036854775808", "1"), []string{
			`policy.validRange.min: Invalid value: "9223372036854775807": min is larger than capacity value: 8Gi`,
			`policy.validRange.max: Invalid value: "9223372036854775808": max is larger than capacity value: 8Gi`,
			`policy.validRange.max: Invalid value: "18446744073709551616": default is more than max: 9223372036854775808`,
			`policy.validRange.step: Invalid value: "1": one step 9223372036854775808 is larger than capacity value: 8Gi`,
			`policy.validRange.max: Invalid value: "9223372036854775808": must not be larger than 9223372036854775807`,
			`policy.validRange.default: Invalid value: "18446744073709551616": must not be larger than 9223372036854775807`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, validatetest.Texts(validateRequestPolicy(c.policy, q("8Gi"), root.Child("policy"))))
		})
	}
	shared := &resourcev1.Device{AllowMultipleAllocations: new(true), Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"m": {Value: q("1"), RequestPolicy: ranged("2", "1", "", "")}}}
	require.Empty(t, validateCapacities(shared, nil))
}

func TestValidateDeviceTaintRule(t *testing.T) {
	r := &resourcev1.DeviceTaintRule{Spec: resourcev1.DeviceTaintRuleSpec{
		DeviceSelector: &resourcev1.DeviceTaintSelector{Driver: new("d.example.com"), Pool: new("p"), Device: new("g0")},
		Taint:          resourcev1.DeviceTaint{Key: "example.com/broken", Effect: "NoExecute"},
	}}
	require.Empty(t, validateDeviceTaintRule(r))
	r.Spec.DeviceSelector = &resourcev1.DeviceTaintSelector{Driver: new(strings.Repeat("d", 64)), Pool: new(""), Device: new("G")}
	r.Spec.Taint = resourcev1.DeviceTaint{Value: "-"}
	var fields []string
	for _, err := range validateDeviceTaintRuleUpdate(r, nil) {
		fields = append(fields, err.Field)
	}
	require.Equal(t, []string{"spec.deviceSelector.driver", "spec.deviceSelector.pool", "spec.deviceSelector.device", "spec.taint.key", "spec.taint.key", "spec.taint.value"}, fields)
	for i := range 9 {
		r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{Type: fmt.Sprint("T", i), Status: "True", Reason: "R", LastTransitionTime: metav1.Now()})
	}
	require.Equal(t, []string{"status.conditions: Too many: 9: must have at most 8 items"}, validatetest.Texts(validateDeviceTaintRuleStatusUpdate(r, nil)))
}

func TestSliceTagsHaveOneOrder(t *testing.T) {
	counters := map[string]resourcev1.Counter{"A": {}, "B": {}, "C": {}, "D": {}}
	invalid := map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"a": {}, "b": {}, "c": {}, "d": {}}
	s := &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{
		SharedCounters: []resourcev1.CounterSet{{Name: "x", Counters: counters}},
		Devices:        []resourcev1.Device{{Name: "d", Attributes: invalid}, {Name: "e", Attributes: invalid}},
	}}
	errs := func() (got []string) {
		for _, err := range validateSliceTags(t.Context(), operation.Operation{}, s, nil) {
			got = append(got, fmt.Sprintf("%s %v", err.Field, err.BadValue))
		}
		return got
	}
	want := errs()
	require.GreaterOrEqual(t, len(want), 12)
	require.IsIncreasing(t, want[len(want)-4:])
	for range 100 {
		require.Equal(t, want, errs())
	}
}
