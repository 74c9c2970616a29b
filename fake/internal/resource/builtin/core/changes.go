package core

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/util/diff"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// maxChanges is the size of the values, as JSON, that changes compares. The comparison of longer
// ones can take very long.
const maxChanges = 32 << 10

// changes returns the difference of two values as lines for the text of an error, "" for long
// values.
func changes(old, value any) string {
	old, value = validate.Internal(old), validate.Internal(value)
	for _, v := range []any{old, value} {
		if encoded, err := json.Marshal(v); err != nil || len(encoded) > maxChanges {
			return ""
		}
	}
	return diff.Diff(old, value)
}
