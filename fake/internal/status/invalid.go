package status

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Invalid is the 422 of an object with validation errors. It is nil if there are none.
func Invalid(kind schema.GroupKind, name string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	err := apierrors.NewInvalid(kind, name, nil)
	err.ErrStatus.Message += ": " + FieldErrorsText(errs)
	err.ErrStatus.Details.Causes = make([]metav1.StatusCause, 0, len(errs))
	for _, e := range errs {
		err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
			Type: metav1.CauseType(e.Type), Message: e.ErrorBody(), Field: e.Field,
		})
	}
	return err
}

// InvalidName is the error of a look-up of an object by a name that cannot be part of a key in
// etcd. It is nil if the name can be.
func InvalidName(name string) error {
	if name == "" {
		return apierrors.NewBadRequest("Name parameter required.")
	}
	if msgs := content.IsPathSegmentName(name); len(msgs) > 0 {
		return apierrors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", name, strings.Join(msgs, ";")))
	}
	return nil
}

// FieldErrorsText returns the text of errs.ToAggregate(), which has each message once. The time of
// that function grows with the square of the length of the text, which is minutes for an object
// with some ten thousand invalid labels.
func FieldErrorsText(errs field.ErrorList) string {
	seen := make(map[string]bool, len(errs))
	var messages []string
	for _, err := range errs {
		if message := err.Error(); !seen[message] {
			seen[message] = true
			messages = append(messages, message)
		}
	}
	if len(messages) == 1 {
		return messages[0]
	}
	return "[" + strings.Join(messages, ", ") + "]"
}
