package storage

import (
	"fmt"

	storagev1 "k8s.io/api/storage/v1"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// storageClassWarnings returns the warnings for deprecated labels.
func storageClassWarnings(c *storagev1.StorageClass) (warnings []string) {
	var root *validate.Path
	for i := range c.AllowedTopologies {
		for j, r := range c.AllowedTopologies[i].MatchLabelExpressions {
			if text := core.NodeLabelDeprecation(r.Key); text != "" {
				warnings = append(warnings, fmt.Sprintf("%s: %s",
					root.Child("allowedTopologies").Index(i).Child("matchLabelExpressions").Index(j).Child("key"), text))
			}
		}
	}
	return warnings
}

func storageClassUpdateWarnings(c, _ *storagev1.StorageClass) []string {
	return storageClassWarnings(c)
}
