package storage

import (
	"testing"

	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestWarnings(t *testing.T) {
	class := validatetest.Parse[storagev1.StorageClass](t, `allowedTopologies: [{}, {matchLabelExpressions: [{key: a}, {key: failure-domain.beta.kubernetes.io/zone}]}]`)
	require.Equal(t, []string{
		`allowedTopologies[1].matchLabelExpressions[1].key: deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	}, storageClassUpdateWarnings(class, nil))

	require.Empty(t, csiStorageCapacityWarnings(&storagev1.CSIStorageCapacity{}))
	capacity := validatetest.Parse[storagev1.CSIStorageCapacity](t, `nodeTopology: {matchExpressions: [{key: beta.kubernetes.io/os}], matchLabels: {a: b, beta.kubernetes.io/arch: c}}`)
	require.Equal(t, []string{
		`nodeTopology.matchExpressions[0].key: beta.kubernetes.io/os is deprecated since v1.14; use "kubernetes.io/os" instead`,
		`nodeTopology.matchLabels.beta.kubernetes.io/arch: deprecated since v1.14; use "kubernetes.io/arch" instead`,
	}, csiStorageCapacityUpdateWarnings(capacity, nil))
}
