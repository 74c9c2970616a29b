package table

import (
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"
)

// devicePrinters returns the printers of resource.k8s.io.
func devicePrinters() []entry {
	gv := resourcev1.SchemeGroupVersion
	taint := resourcev1.DeviceTaint{}
	return []entry{
		newEntry(gv, func(c *resourcev1.DeviceClass) []any {
			return []any{c.Name, since(c.CreationTimestamp)}
		}, named(), age()),
		newEntry(gv, func(c *resourcev1.ResourceClaim) []any {
			return []any{c.Name, claimState(c), since(c.CreationTimestamp)}
		}, named(), text("State", "A summary of the current state (allocated, pending, reserved, etc.)."), age()),
		newEntry(gv, func(t *resourcev1.ResourceClaimTemplate) []any {
			return []any{t.Name, since(t.CreationTimestamp)}
		}, named(), age()),
		newEntry(gv, func(s *resourcev1.ResourceSlice) []any {
			return []any{s.Name, ptr.Deref(s.Spec.NodeName, ""), s.Spec.Driver, s.Spec.Pool.Name, since(s.CreationTimestamp)}
		},
			named(),
			text("Node", describes(resourcev1.ResourceSliceSpec{}, "nodeName")),
			text("Driver", describes(resourcev1.ResourceSliceSpec{}, "driver")),
			text("Pool", describes(resourcev1.ResourcePool{}, "name")),
			age(),
		),
		newEntry(gv, func(r *resourcev1.DeviceTaintRule) []any {
			var added any = ""
			if t := r.Spec.Taint.TimeAdded; t != nil {
				added = since(*t)
			}
			t := &r.Spec.Taint
			return []any{r.Name, t.Key, t.Value, string(t.Effect), added, since(r.CreationTimestamp)}
		},
			named(),
			text("Key", describes(taint, "key")),
			text("Value", describes(taint, "value")),
			text("Effect", describes(taint, "effect")),
			text("TimeAdded", describes(taint, "timeAdded")),
			age(),
		),
	}
}

func claimState(c *resourcev1.ResourceClaim) string {
	var states []string
	if c.DeletionTimestamp != nil {
		states = append(states, "deleted")
	}
	switch {
	case c.Status.Allocation != nil:
		states = append(states, "allocated")
		if len(c.Status.ReservedFor) > 0 {
			states = append(states, "reserved")
		}
	case c.DeletionTimestamp == nil:
		states = append(states, "pending")
	}
	return strings.Join(states, ",")
}
