package scheduling

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

func TestPriorityClass(t *testing.T) {
	p := &schedulingv1.PriorityClass{}
	setPriorityClassDefaults(p)
	require.Equal(t, corev1.PreemptLowerPriority, *p.PreemptionPolicy)
	*p.PreemptionPolicy = corev1.PreemptNever
	setPriorityClassDefaults(p)
	require.Equal(t, corev1.PreemptNever, *p.PreemptionPolicy)
	preparePriorityClassForCreate(t.Context(), p)
	require.Equal(t, int64(1), p.Generation)
}
