package storage

import (
	"testing"

	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateCSIStorageCapacity(t *testing.T) {
	for text, want := range map[string][]string{
		`{storageClassName: a.b, capacity: 0, maximumVolumeSize: -1}`: nil,
		`{storageClassName: "", capacity: -1, nodeTopology: {matchExpressions: [{key: a, operator: Is}]}}`: {
			`nodeTopology.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`,
			`storageClassName: Invalid value: "": ` + validatetest.BadSubdomain,
			`capacity: Invalid value: "-1": must be greater than or equal to 0`,
		},
	} {
		require.Equal(t, want, validatetest.Texts(validateCSIStorageCapacity(validatetest.Parse[storagev1.CSIStorageCapacity](t, text))), text)
	}

	old := validatetest.Parse[storagev1.CSIStorageCapacity](t, `{storageClassName: a, capacity: 1, nodeTopology: {matchExpressions: [{key: a, operator: In, values: ["b:"]}]}}`)
	same := old.DeepCopy()
	same.Capacity = nil
	require.Empty(t, validateCSIStorageCapacityUpdate(same, old), "a malformed value stays valid")
	require.Equal(t, []string{
		`nodeTopology: Invalid value: {}: field is immutable`, `storageClassName: Invalid value: "b": field is immutable`,
	}, validatetest.Texts(validateCSIStorageCapacityUpdate(validatetest.Parse[storagev1.CSIStorageCapacity](t, `{storageClassName: b, nodeTopology: {}}`), old)))
}
