package resourcek8sio

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource"
	declarativeresource "example.com/fakeapi/fake/internal/resource/declarative/resource"
)

// mapFields matches the fields that are maps or in maps.
var mapFields = regexp.MustCompile(`^spec\.[^.]+\[\d+\](?:\.consumesCounters\[\d+\])?\.(?:attributes|counters|nodeAllocatableResources)\b`)

// validateSliceTags returns the errors of the validation tags of a ResourceSlice. The generated
// functions visit maps in any order; here the errors of a map are in the order of its keys.
func validateSliceTags(ctx context.Context, op operation.Operation, obj, old runtime.Object) field.ErrorList {
	validate := resource.DeclarativeValidationWithOptions(declarativeresource.Validate_ResourceSlice, map[string]bool{
		"DRAPartitionableDevicesType": false, // alpha in v1.37
	})
	errs := validate(ctx, op, obj, old)
	for i := 0; i < len(errs); {
		inMap, end := mapFields.FindString(errs[i].Field), i+1
		for end < len(errs) && mapFields.FindString(errs[end].Field) == inMap {
			end++
		}
		if inMap != "" {
			slices.SortStableFunc(errs[i:end], compareKeys)
		}
		i = end
	}
	return errs
}

// compareKeys compares the keys that two errors are about: they are in the field, or are the value.
func compareKeys(a, b *field.Error) int {
	return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(fmt.Sprint(a.BadValue), fmt.Sprint(b.BadValue)))
}
