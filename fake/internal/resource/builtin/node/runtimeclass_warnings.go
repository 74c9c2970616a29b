package node

import (
	"maps"
	"slices"

	nodev1 "k8s.io/api/node/v1"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
)

// runtimeClassWarnings returns the warnings for the selection of nodes by deprecated labels.
func runtimeClassWarnings(c *nodev1.RuntimeClass) (warnings []string) {
	if c.Scheduling == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(c.Scheduling.NodeSelector)) {
		if text := core.NodeLabelDeprecation(key); text != "" {
			warnings = append(warnings, "scheduling.nodeSelector: "+text)
		}
	}
	return warnings
}

func runtimeClassUpdateWarnings(c, _ *nodev1.RuntimeClass) []string { return runtimeClassWarnings(c) }
