package storage

import (
	"testing"

	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateCSIDriver(t *testing.T) {
	for text, want := range map[string][]string{
		`spec: {}`: nil,
		`spec: {fsGroupPolicy: File, volumeLifecycleModes: [Ephemeral, Persistent], nodeAllocatableUpdatePeriodSeconds: 10, serviceAccountTokenInSecrets: false, tokenRequests: [{audience: ""}, {audience: a, expirationSeconds: 600}, {audience: b, expirationSeconds: 4294967296}]}`: nil,
		`spec: {fsGroupPolicy: Other, volumeLifecycleModes: [Persistent, Other], nodeAllocatableUpdatePeriodSeconds: 9, serviceAccountTokenInSecrets: true}`: {
			`spec.fsGroupPolicy: Unsupported value: "Other": supported values: "File", "None", "ReadWriteOnceWithFSType"`,
			`spec.volumeLifecycleModes: Unsupported value: "Other": supported values: "Persistent", "Ephemeral"`,
			"spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds",
			"spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified",
		},
		`spec: {tokenRequests: [{audience: a, expirationSeconds: 599}, {audience: b, expirationSeconds: 4294967297}, {audience: a, expirationSeconds: 1}]}`: {
			"spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes",
			"spec.tokenRequests[1].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds",
			`spec.tokenRequests[2].audience: Duplicate value: "a"`,
		},
	} {
		t.Run(text, func(t *testing.T) {
			require.Equal(t, want, validatetest.Texts(validateCSIDriver(validatetest.Parse[storagev1.CSIDriver](t, text))))
		})
	}

	old := validatetest.Parse[storagev1.CSIDriver](t, `spec: {attachRequired: true, volumeLifecycleModes: [Persistent]}`)
	require.Empty(t, validateCSIDriverUpdate(validatetest.Parse[storagev1.CSIDriver](t, `spec: {attachRequired: true, volumeLifecycleModes: [Persistent], podInfoOnMount: true, fsGroupPolicy: None}`), old))
	require.Equal(t, []string{
		"spec.attachedRequired: Invalid value: false: field is immutable", `spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable`,
	}, validatetest.Texts(validateCSIDriverUpdate(validatetest.Parse[storagev1.CSIDriver](t, `spec: {attachRequired: false, volumeLifecycleModes: [Ephemeral]}`), old)))
}
