package storage

import (
	"testing"

	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateVolumeAttributesClass(t *testing.T) {
	for text, want := range map[string][]string{
		`{driverName: A.example.com, parameters: {a: ""}}`: nil,
		`{driverName: ""}`:                          {"driverName: Required value", "parameters: Required value: must contain at least one key/value pair"},
		`{driverName: "a b", parameters: {"": ""}}`: {`driverName: Invalid value: "a b": ` + malformedQualifiedName, `parameters: Invalid value: "": field can not be empty.`},
	} {
		require.Equal(t, want, validatetest.Texts(validateVolumeAttributesClass(validatetest.Parse[storagev1.VolumeAttributesClass](t, text))), text)
	}
	old := validatetest.Parse[storagev1.VolumeAttributesClass](t, `{driverName: a, parameters: {b: c}}`)
	require.Empty(t, validateVolumeAttributesClassUpdate(old, old))
	require.Equal(t, []string{
		"driverName: Forbidden: updates to driverName are forbidden.",
		"parameters: Forbidden: updates to parameters are forbidden.", "driverName: Required value",
	}, validatetest.Texts(validateVolumeAttributesClassUpdate(validatetest.Parse[storagev1.VolumeAttributesClass](t, `{driverName: "", parameters: {b: d}}`), old)))
}
