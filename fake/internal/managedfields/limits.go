package managedfields

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// maxAppliedFields is the maximum number of fields of one object in an apply patch. The library
// takes the square of their number. An object with more of them and with its managedFields, without
// which an apply does not store it, is too large for etcd.
const maxAppliedFields = 80_000

// checkFields returns a 413 if an object in an apply patch has more fields than maxAppliedFields.
func checkFields(value any) error {
	switch value := value.(type) {
	case map[string]any:
		if len(value) > maxAppliedFields {
			return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
				"The allowed maximum fields of an object in an apply patch is %d, got %d", maxAppliedFields, len(value)))
		}
		for _, field := range value {
			if err := checkFields(field); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range value {
			if err := checkFields(item); err != nil {
				return err
			}
		}
	}
	return nil
}
