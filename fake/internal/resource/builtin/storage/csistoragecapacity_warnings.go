package storage

import (
	"fmt"
	"maps"
	"slices"

	storagev1 "k8s.io/api/storage/v1"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// csiStorageCapacityWarnings returns the warnings for deprecated labels.
func csiStorageCapacityWarnings(c *storagev1.CSIStorageCapacity) (warnings []string) {
	if c.NodeTopology == nil {
		return nil
	}
	var root *validate.Path
	p := root.Child("nodeTopology")
	for i, r := range c.NodeTopology.MatchExpressions {
		if text := core.NodeLabelDeprecation(r.Key); text != "" {
			warnings = append(warnings, fmt.Sprintf("%s: %s is %s", p.Child("matchExpressions").Index(i).Child("key"), r.Key, text))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.NodeTopology.MatchLabels)) {
		if text := core.NodeLabelDeprecation(key); text != "" {
			warnings = append(warnings, fmt.Sprintf("%s: %s", p.Child("matchLabels").Child(key), text))
		}
	}
	return warnings
}

func csiStorageCapacityUpdateWarnings(c, _ *storagev1.CSIStorageCapacity) []string {
	return csiStorageCapacityWarnings(c)
}
