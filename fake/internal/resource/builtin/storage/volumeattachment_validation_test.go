package storage

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateVolumeAttachment(t *testing.T) {
	const exactlyOne = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
	for text, want := range map[string][]string{
		`spec: {attacher: a, nodeName: n.1, source: {persistentVolumeName: b}}`:                                                           nil,
		`spec: {attacher: a, nodeName: c, source: {inlineVolumeSpec: {csi: {driver: d, volumeHandle: h}, accessModes: [ReadWriteOnce]}}}`: nil,
		`spec: {attacher: a, nodeName: c, source: {inlineVolumeSpec: {csi: {driver: d, volumeHandle: h}}}}`:                               {"spec.source.inlineVolumeSpec.accessModes: Required value"},
		`spec: {attacher: a, nodeName: "", source: {}}`:                                                                                   {"spec.source: Required value: " + exactlyOne, `spec.nodeName: Invalid value: "": ` + validatetest.BadSubdomain},
		`spec: {attacher: a, nodeName: c, source: {persistentVolumeName: b, inlineVolumeSpec: {}}}`:                                       {"spec.source: Forbidden: " + exactlyOne},
		`spec: {attacher: a, nodeName: c, source: {persistentVolumeName: ""}}`: {
			"spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName",
			`spec.source.persistentVolumeName: Invalid value: "": ` + validatetest.BadSubdomain,
		},
		`spec: {attacher: a, nodeName: c, source: {persistentVolumeName: B}}`: {`spec.source.persistentVolumeName: Invalid value: "B": ` + validatetest.BadSubdomain},
	} {
		t.Run(text, func(t *testing.T) {
			require.Equal(t, want, validatetest.Texts(validateNewVolumeAttachment(validatetest.Parse[storagev1.VolumeAttachment](t, text))))
		})
	}

	a := validatetest.Parse[storagev1.VolumeAttachment](t, `{spec: {attacher: a, nodeName: c, source: {persistentVolumeName: B}}, status: {attachError: {errorCode: 0}, detachError: {errorCode: -1}}}`)
	a.Status.AttachError.Message = strings.Repeat("m", 1024)
	a.Status.DetachError.Message = strings.Repeat("m", 1025)
	a.Status.AttachmentMetadata = map[string]string{"a": strings.Repeat("b", 256<<10)}
	require.Equal(t, []string{
		"status.attachmentMetadata: Too long: may not be more than 262144 bytes",
		"status.detachError.message: Too long: may not be more than 1024 bytes",
		"status.detachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive",
	}, validatetest.Texts(validateVolumeAttachmentUpdate(a, nil)))
}
