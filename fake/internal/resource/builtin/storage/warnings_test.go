package storage

import (
	"testing"

	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"

	"example.com/fakeapi/fake/internal/resource"
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

func TestCSIDriverWarnings(t *testing.T) {
	res := resource.NewTable(Resources()).Lookup("storage.k8s.io", "v1", "csidrivers")
	warnings := []string{"spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes"}
	withA := validatetest.Parse[storagev1.CSIDriver](t, `spec: {tokenRequests: [{audience: a}]}`)
	withB := validatetest.Parse[storagev1.CSIDriver](t, `spec: {tokenRequests: [{audience: b}]}`)
	isSet := validatetest.Parse[storagev1.CSIDriver](t, `spec: {tokenRequests: [{audience: b}], serviceAccountTokenInSecrets: false}`)
	require.Equal(t, warnings, res.WarningsOnCreate(withA))
	require.Equal(t, warnings, res.WarningsOnUpdate(withB, withA))
	require.Empty(t, res.WarningsOnUpdate(withB, isSet))
	require.Empty(t, res.WarningsOnUpdate(isSet, withA))
	require.Empty(t, res.WarningsOnCreate(isSet))
	require.Empty(t, res.WarningsOnUpdate(&storagev1.CSIDriver{}, withA))
}
