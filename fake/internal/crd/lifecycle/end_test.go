package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestServingUntilTheEnd(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	crd := plain(t, "foos", "Foo", "example.com")
	crd.Spec.Names.ShortNames = []string{"f"}
	fresh := ServingOf(crd)
	require.False(t, fresh.Requests())
	require.Empty(t, fresh.Names().Plural)

	states := Accept(crd, nil, now)
	require.Len(t, states, 2)
	require.True(t, ServingOf(states[0]).Requests(), "served as soon as the names are accepted")
	require.False(t, ServingOf(states[0]).Discovery())
	whole := ServingOf(states[1])
	require.True(t, whole.Requests() && whole.Discovery() && whole.Creates() && whole.Changes())
	require.Equal(t, []string{"f"}, whole.Names().ShortNames)

	states[1].Finalizers = []string{"example.com/hold"}
	marked := MarkDeleted(states[1], now)
	require.Nil(t, states[1].DeletionTimestamp)
	require.True(t, MustFinalize(marked))
	ending := ServingOf(marked)
	require.True(t, ending.Requests() && ending.Discovery())
	require.False(t, ending.Creates() || ending.Changes())

	done := Finalized(Finalizing(marked, now), now)
	require.Equal(t, []string{"example.com/hold"}, done.Finalizers)
	require.False(t, MustFinalize(done))
	require.False(t, ServingOf(done).Creates(), "it is still being deleted")
	require.True(t, ServingOf(done).Changes())
}

// TestOverlap takes a definition that means objects of a built-in resource: they stay.
func TestOverlap(t *testing.T) {
	now := time.Now()
	crd := plain(t, "apiservices", "APIService", "apiregistration.k8s.io")
	states := Accept(crd, nil, now)
	marked := MarkDeleted(states[len(states)-1], now)
	require.False(t, DeletesInstances(marked))
	done := Finalized(marked, now)
	last := done.Status.Conditions[len(done.Status.Conditions)-1]
	require.Equal(t, "OverlappingBuiltInResource", last.Reason)
	require.Equal(t, apiextensionsv1.ConditionFalse, last.Status)
}

// TestMarkedTwice checks that a time of deletion and a finalizer that are there stay.
func TestMarkedTwice(t *testing.T) {
	crd := plain(t, "foos", "Foo", "example.com")
	first := MarkDeleted(crd, time.Now())
	second := MarkDeleted(first, time.Now().Add(time.Hour))
	require.Equal(t, first.DeletionTimestamp, second.DeletionTimestamp)
	require.Equal(t, first.Finalizers, second.Finalizers)
}
