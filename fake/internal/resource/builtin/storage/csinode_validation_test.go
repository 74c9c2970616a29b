package storage

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateCSINode(t *testing.T) {
	long := strings.Repeat("a", 257)
	for text, want := range map[string][]string{
		`spec: {drivers: []}`: nil,
		`spec: {drivers: [{name: A.b, nodeID: ` + long[1:] + `, topologyKeys: [a.b/c, D], allocatable: {count: 0}}, {name: c, nodeID: d, allocatable: {}}]}`: nil,
		`spec: {drivers: [{name: "", nodeID: ""}]}`: {
			"spec.drivers[0].name: Required value", "spec.drivers[0].nodeID: Required value"},
		`spec: {drivers: [{name: a, nodeID: ` + long + `, allocatable: {count: -1}}]}`: {
			`spec.drivers[0].nodeID: Invalid value: "` + long + `": must be 256 characters or less`,
			"spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0",
		},
		`spec: {drivers: [{name: a, nodeID: b, topologyKeys: [c, c, ""]}, {name: a, nodeID: b}]}`: {
			`spec.drivers[0]: Duplicate value: "c"`, "spec.drivers[0]: Required value",
			`spec.drivers[0]: Invalid value: "": name part must be non-empty`, `spec.drivers[0]: Invalid value: "": ` + malformedQualifiedName,
			`spec.drivers[1].name: Duplicate value: "a"`,
		},
	} {
		t.Run(text, func(t *testing.T) {
			require.Equal(t, want, validatetest.Texts(validateCSINode(validatetest.Parse[storagev1.CSINode](t, text))))
		})
	}

	old := validatetest.Parse[storagev1.CSINode](t, `spec: {drivers: [{name: a, nodeID: b, allocatable: {count: 1}}, {name: c, nodeID: d}]}`)
	require.Empty(t, validateCSINodeUpdate(validatetest.Parse[storagev1.CSINode](t, `spec: {drivers: [{name: e, nodeID: f}, {name: a, nodeID: b, allocatable: {count: 2}}]}`), old))
	errs := validateCSINodeUpdate(validatetest.Parse[storagev1.CSINode](t, `spec: {drivers: [{name: c, nodeID: e}, {name: a, nodeID: b, topologyKeys: [f]}]}`), old)
	require.Equal(t, []string{
		`spec.drivers: Invalid value: {"Name":"a","NodeID":"b","TopologyKeys":["f"],"Allocatable":null}: field is immutable`,
		`spec.drivers: Invalid value: {"Name":"c","NodeID":"e","TopologyKeys":null,"Allocatable":null}: field is immutable`,
	}, validatetest.Texts(errs))
}
