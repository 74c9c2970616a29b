package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestServing(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	crd := newCRD(t, "foos", "Foo", "example.com")
	crd.Spec.Names.ShortNames = []string{"f"}
	fresh := ServingOf(crd)
	require.False(t, fresh.ServesRequests())
	require.Empty(t, fresh.Names().Plural)

	states := reconcileCRD(crd, nil, now)
	require.Len(t, states, 2)
	require.True(t, ServingOf(states[0]).ServesRequests(), "served as soon as the names are accepted")
	require.False(t, ServingOf(states[0]).InDiscovery())
	established := ServingOf(states[1])
	require.True(t, established.ServesRequests() && established.InDiscovery() && established.AllowsCreate() && established.DiscoversWriteVerbs())
	require.Equal(t, []string{"f"}, established.Names().ShortNames)

	states[1].Finalizers = []string{"example.com/hold"}
	marked := MarkTerminating(states[1], now)
	require.Nil(t, states[1].DeletionTimestamp)
	require.True(t, NeedsFinalizing(marked))
	ending := ServingOf(marked)
	require.True(t, ending.ServesRequests() && ending.InDiscovery())
	require.False(t, ending.AllowsCreate() || ending.DiscoversWriteVerbs())

	done := FinishFinalizing(StartFinalizing(marked, now), now)
	require.Equal(t, []string{"example.com/hold"}, done.Finalizers)
	require.False(t, NeedsFinalizing(done))
	require.False(t, ServingOf(done).AllowsCreate(), "the definition is still being deleted")
	require.True(t, ServingOf(done).DiscoversWriteVerbs())
}

// TestOverlapWithBuiltIn has a definition whose instances are those of a built-in resource. They
// are not deleted.
func TestOverlapWithBuiltIn(t *testing.T) {
	now := time.Now()
	crd := newCRD(t, "apiservices", "APIService", "apiregistration.k8s.io")
	states := reconcileCRD(crd, nil, now)
	marked := MarkTerminating(states[len(states)-1], now)
	require.False(t, MustDeleteInstances(marked))
	done := FinishFinalizing(marked, now)
	last := done.Status.Conditions[len(done.Status.Conditions)-1]
	require.Equal(t, "OverlappingBuiltInResource", last.Reason)
	require.Equal(t, apiextensionsv1.ConditionFalse, last.Status)
}

// TestMarkTerminatingTwice checks that an existing deletionTimestamp and finalizer do not change.
func TestMarkTerminatingTwice(t *testing.T) {
	crd := newCRD(t, "foos", "Foo", "example.com")
	first := MarkTerminating(crd, time.Now())
	second := MarkTerminating(first, time.Now().Add(time.Hour))
	require.Equal(t, first.DeletionTimestamp, second.DeletionTimestamp)
	require.Equal(t, first.Finalizers, second.Finalizers)
}
