package resourcek8sio

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTaintTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(1500 * time.Millisecond) // virtual
		second := metav1.NewTime(time.Now().Truncate(time.Second))
		before := metav1.NewTime(second.Add(-time.Hour))

		slice := &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{Devices: []resourcev1.Device{
			{}, {Taints: []resourcev1.DeviceTaint{{Key: "a"}, {Key: "b", TimeAdded: &before}}},
		}}}
		setResourceSliceDefaults(slice)
		taints := slice.Spec.Devices[1].Taints
		require.True(t, second.Time.Equal(taints[0].TimeAdded.Time), taints[0].TimeAdded)
		require.Equal(t, &before, taints[1].TimeAdded)

		rule := func(effect resourcev1.DeviceTaintEffect, added *metav1.Time) *resourcev1.DeviceTaintRule {
			r := &resourcev1.DeviceTaintRule{}
			r.Spec.Taint = resourcev1.DeviceTaint{Effect: effect, TimeAdded: added}
			return r
		}
		created := rule("NoSchedule", nil)
		setDeviceTaintRuleDefaults(created)
		require.True(t, second.Time.Equal(created.Spec.Taint.TimeAdded.Time))
		for name, c := range map[string]struct {
			rule, old *resourcev1.DeviceTaintRule
			want      metav1.Time
		}{
			"the same effect":  {rule("NoSchedule", &before), rule("NoSchedule", &before), before},
			"another effect":   {rule("NoExecute", &before), rule("NoSchedule", &before), second},
			"a time as well":   {rule("NoExecute", &before), rule("NoSchedule", &second), before},
			"no time was kept": {rule("NoExecute", nil), rule("NoSchedule", nil), second},
		} {
			prepareDeviceTaintRuleForUpdate(t.Context(), c.rule, c.old)
			require.True(t, c.want.Time.Equal(c.rule.Spec.Taint.TimeAdded.Time), name)
		}
	})
}

// Each field of a feature gate that is off is dropped, unless the stored slice has it.
func TestDropDisabledSliceFields(t *testing.T) {
	device := func(d resourcev1.Device) resourcev1.ResourceSliceSpec {
		return resourcev1.ResourceSliceSpec{Devices: []resourcev1.Device{d}}
	}
	counters := func(groups ...string) []resourcev1.DeviceCounterConsumption {
		return []resourcev1.DeviceCounterConsumption{{CounterSet: "c", CompatibilityGroups: groups}}
	}
	attributes := func(a resourcev1.DeviceAttribute) map[resourcev1.QualifiedName]resourcev1.DeviceAttribute {
		return map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"list": a, "text": {StringValue: new("t")}}
	}
	for name, c := range map[string]struct{ sent, dropped resourcev1.ResourceSliceSpec }{
		"partitionTypeAttribute": {resourcev1.ResourceSliceSpec{PartitionTypeAttribute: new(resourcev1.FullyQualifiedName("a/b"))}, resourcev1.ResourceSliceSpec{}},
		"skipNodeOperations": {
			resourcev1.ResourceSliceSpec{SkipNodeOperations: []resourcev1.SkipNodeOperation{resourcev1.SkipNodeOperationAll}}, resourcev1.ResourceSliceSpec{},
		},
		"nodeAllocatableResources": {device(resourcev1.Device{NodeAllocatableResources: map[corev1.ResourceName]resourcev1.NodeAllocatableResource{"cpu": {}}}), device(resourcev1.Device{})},
		"compatibilityGroups":      {device(resourcev1.Device{ConsumesCounters: counters("g")}), device(resourcev1.Device{ConsumesCounters: counters()})},
		"ints":                     {device(resourcev1.Device{Attributes: attributes(resourcev1.DeviceAttribute{IntValues: []int64{1}})}), device(resourcev1.Device{Attributes: attributes(resourcev1.DeviceAttribute{})})},
		"bools":                    {device(resourcev1.Device{Attributes: attributes(resourcev1.DeviceAttribute{BoolValues: []bool{true}})}), device(resourcev1.Device{Attributes: attributes(resourcev1.DeviceAttribute{})})},
		"strings":                  {device(resourcev1.Device{Attributes: attributes(resourcev1.DeviceAttribute{StringValues: []string{"a"}})}), device(resourcev1.Device{Attributes: attributes(resourcev1.DeviceAttribute{})})},
		"versions":                 {device(resourcev1.Device{Attributes: attributes(resourcev1.DeviceAttribute{VersionValues: []string{"1.0.0"}})}), device(resourcev1.Device{Attributes: attributes(resourcev1.DeviceAttribute{})})},
	} {
		t.Run(name, func(t *testing.T) {
			slice := &resourcev1.ResourceSlice{Spec: *c.sent.DeepCopy()}
			prepareResourceSliceForCreate(t.Context(), slice)
			require.Equal(t, c.dropped, slice.Spec)

			slice = &resourcev1.ResourceSlice{Spec: *c.sent.DeepCopy()}
			prepareResourceSliceForUpdate(t.Context(), slice, &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Generation: 1}, Spec: c.dropped})
			require.Equal(t, c.dropped, slice.Spec)
			require.Equal(t, int64(2), slice.Generation, "what is dropped counts")

			slice = &resourcev1.ResourceSlice{Spec: *c.sent.DeepCopy()}
			prepareResourceSliceForUpdate(t.Context(), slice, &resourcev1.ResourceSlice{Spec: c.sent})
			require.Equal(t, c.sent, slice.Spec, "the field is in use")
		})
	}
}
