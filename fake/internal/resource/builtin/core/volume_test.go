package core

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestSetVolumeDefaults(t *testing.T) {
	for _, test := range []struct{ volume, want string }{
		{`{name: v}`, `{name: v, emptyDir: {}}`},
		{`{name: v, nfs: {server: s, path: /p}}`, `{name: v, nfs: {server: s, path: /p}}`},
		{`{name: v, secret: {secretName: s}}`, `{name: v, secret: {secretName: s, defaultMode: 420}}`},
		{`{name: v, configMap: {name: m, defaultMode: 0}}`, `{name: v, configMap: {name: m, defaultMode: 0}}`},
		{`{name: v, downwardAPI: {items: [{path: p, fieldRef: {fieldPath: f}}]}}`,
			`{name: v, downwardAPI: {defaultMode: 420, items: [{path: p, fieldRef: {apiVersion: v1, fieldPath: f}}]}}`},
		{`{name: v, projected: {sources: [{serviceAccountToken: {path: t}}, {downwardAPI: {items: [{path: p, fieldRef: {fieldPath: f}}]}}]}}`,
			`{name: v, projected: {defaultMode: 420, sources: [{serviceAccountToken: {path: t, expirationSeconds: 3600}},
			{downwardAPI: {items: [{path: p, fieldRef: {apiVersion: v1, fieldPath: f}}]}}]}}`},
		{`{name: v, hostPath: {path: /p}}`, `{name: v, hostPath: {path: /p, type: ''}}`},
		{`{name: v, image: {reference: a}}`, `{name: v, image: {reference: a, pullPolicy: Always}}`},
		{`{name: v, iscsi: {iqn: i, lun: 1, targetPortal: p}}`, `{name: v, iscsi: {iqn: i, lun: 1, targetPortal: p, iscsiInterface: default}}`},
		{`{name: v, iscsi: {iqn: i, lun: 1, targetPortal: p, iscsiInterface: tcp}}`, `{name: v, iscsi: {iqn: i, lun: 1, targetPortal: p, iscsiInterface: tcp}}`},
		{`{name: v, azureDisk: {diskName: d, diskURI: u, cachingMode: None, fsType: xfs, readOnly: true, kind: Managed}}`,
			`{name: v, azureDisk: {diskName: d, diskURI: u, cachingMode: None, fsType: xfs, readOnly: true, kind: Managed}}`},
		{`{name: v, rbd: {image: i, monitors: [m], user: u}}`,
			`{name: v, rbd: {image: i, monitors: [m], pool: rbd, user: u, keyring: /etc/ceph/keyring}}`},
		{`{name: v, azureDisk: {diskName: d, diskURI: u}}`,
			`{name: v, azureDisk: {diskName: d, diskURI: u, cachingMode: ReadWrite, fsType: ext4, readOnly: false, kind: Shared}}`},
		{`{name: v, scaleIO: {gateway: g, system: s, secretRef: {name: r}}}`,
			`{name: v, scaleIO: {gateway: g, system: s, secretRef: {name: r}, storageMode: ThinProvisioned, fsType: xfs}}`},
		{`{name: v, ephemeral: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 1024Mi}}}}}}`,
			`{name: v, ephemeral: {volumeClaimTemplate: {spec: {volumeMode: Filesystem, resources: {requests: {storage: 1Gi}}}}}}`},
	} {
		v := validatetest.Parse[corev1.Volume](t, test.volume)
		setVolumeDefaults(v)
		requireYAML(t, test.want, v)
		again := v.DeepCopy()
		setVolumeDefaults(again)
		require.Equal(t, v, again)
	}
}
