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
	require.False(t, ServesRequests(crd))
	require.Empty(t, crd.Status.AcceptedNames.Plural)

	states := reconcileCRD(crd, nil, now)
	require.Len(t, states, 2)
	require.True(t, ServesRequests(states[0]), "served as soon as the names are accepted")
	require.False(t, isEstablished(states[0]))
	established := states[1]
	require.True(t, ServesRequests(established) && isEstablished(established) && AllowsCreate(established) && DiscoversWriteVerbs(established))
	require.Equal(t, []string{"f"}, established.Status.AcceptedNames.ShortNames)

	states[1].Finalizers = []string{"example.com/hold"}
	marked := MarkTerminating(states[1], now)
	require.Nil(t, states[1].DeletionTimestamp)
	require.True(t, NeedsFinalizing(marked))
	require.True(t, ServesRequests(marked) && isEstablished(marked))
	require.False(t, AllowsCreate(marked) || DiscoversWriteVerbs(marked))

	done := FinishFinalizing(StartFinalizing(marked, now), now)
	require.Equal(t, []string{"example.com/hold"}, done.Finalizers)
	require.False(t, NeedsFinalizing(done))
	require.False(t, AllowsCreate(done), "the definition is still being deleted")
	require.True(t, DiscoversWriteVerbs(done))
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
