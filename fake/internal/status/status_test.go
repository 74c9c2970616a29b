package status

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// An API error that is wrapped has no reason and the code 500, as other errors.
func TestFromError(t *testing.T) {
	notFound := apierrors.NewNotFound(schema.GroupResource{Resource: "pod"}, "p")
	s := FromError(notFound)
	require.Equal(t, metav1.StatusReasonNotFound, s.Reason)
	require.EqualValues(t, http.StatusNotFound, s.Code)
	for text, err := range map[string]error{
		"no": errors.New("no"),
		`while retrieving pod: pod "p" not found`: fmt.Errorf("while retrieving pod: %w", notFound),
	} {
		require.Equal(t, &metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Message: text, Code: http.StatusInternalServerError,
		}, FromError(err))
	}
}
