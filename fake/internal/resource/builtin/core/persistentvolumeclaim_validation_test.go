package core

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// parseClaim returns a claim with defaults. The fields of text replace those of a small claim.
func parseClaim(t *testing.T, text string) *corev1.PersistentVolumeClaim {
	t.Helper()
	pvc := validatetest.Parse[corev1.PersistentVolumeClaim](t, text)
	if pvc.Spec.AccessModes == nil {
		pvc.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	}
	if pvc.Spec.Resources.Requests == nil {
		pvc.Spec.Resources.Requests = validatetest.Parse[corev1.VolumeResourceRequirements](t, "requests: {storage: 2Gi}").Requests
	}
	SetDefaultsPersistentVolumeClaim(pvc)
	return pvc
}

func TestValidatePersistentVolumeClaim(t *testing.T) {
	const notDefaultGroup = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
	for text, want := range map[string][]string{
		`spec: {}`: nil,
		`spec: {storageClassName: "", volumeAttributesClassName: "", resources: {requests: {storage: 1m}, limits: {storage: -1, a: 1}}}`: nil,
		`spec: {accessModes: []}`: {"spec.accessModes: Required value: at least 1 access mode is required"},
		`spec: {accessModes: [RWX, ReadWriteOncePod, ReadWriteMany]}`: {
			`spec.accessModes: Unsupported value: "RWX": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"`,
			"spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
		},
		`spec: {selector: {matchExpressions: [{key: a, operator: Is}]}}`: {`spec.selector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`},
		`spec: {resources: {requests: {}}}`:                              {"spec.resources[storage]: Required value"},
		`spec: {resources: {requests: {storage: -1Gi}}}`:                 {`spec.resources[storage]: Invalid value: "-1Gi": must be greater than zero`},
		`spec: {storageClassName: A, volumeMode: Raw, volumeAttributesClassName: B}`: {
			`spec.storageClassName: Invalid value: "A": ` + validatetest.BadSubdomain,
			`spec.volumeMode: Unsupported value: "Raw": supported values: "Block", "Filesystem"`,
			`spec.volumeAttributesClassName: Invalid value: "B": ` + validatetest.BadSubdomain,
		},
		`spec: {dataSource: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: s}}`: nil,
		`spec: {dataSource: {kind: "", name: ""}}`: {
			"spec.dataSource.name: Required value", "spec.dataSource.kind: Required value", `spec.dataSource: Invalid value: "": ` + notDefaultGroup},
		`spec: {dataSourceRef: {apiGroup: A, kind: K, name: a, namespace: "N"}}`: {
			`spec.dataSourceRef.apiGroup: Invalid value: "A": ` + validatetest.BadSubdomain, `spec.dataSourceRef.namespace: Invalid value: "N": ` + validatetest.BadLabel},
		`spec: {dataSource: {kind: PersistentVolumeClaim, name: a}, dataSourceRef: {kind: PersistentVolumeClaim, name: a}}`: nil,
		`spec: {dataSource: {kind: PersistentVolumeClaim, name: a}, dataSourceRef: {kind: PersistentVolumeClaim, name: b}}`: {`spec: Invalid value: {}: must match dataSourceRef`},
		`spec: {dataSource: {kind: PersistentVolumeClaim, name: a}, dataSourceRef: {kind: PersistentVolumeClaim, name: a, namespace: b}}`: {
			"spec: Invalid value: {}: may not be specified when dataSourceRef.namespace is specified"},
	} {
		t.Run(text, func(t *testing.T) {
			require.Equal(t, want, validatetest.Texts(validatePersistentVolumeClaim(parseClaim(t, text))))
		})
	}
}

func TestValidatePersistentVolumeClaimUpdate(t *testing.T) {
	const immutable = "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ "
	const bound = `status: {phase: Bound, capacity: {storage: 1Gi}}`
	const applied = `status: {phase: Bound, currentVolumeAttributesClassName: a}`
	const classPath, afterSome = "spec.volumeAttributesClassName: Forbidden: ", " is forbidden when status.currentVolumeAttributesClassName is not nil"
	const annotation = `metadata: {annotations: {volume.beta.kubernetes.io/storage-class: a}}`
	for name, c := range map[string]struct {
		old, pvc string
		want     []string
	}{
		"nothing":                         {`spec: {volumeName: v}`, `spec: {volumeName: v}`, nil},
		"the name of the volume, once":    {`spec: {}`, `spec: {volumeName: v}`, nil},
		"another volume":                  {`spec: {volumeName: v}`, `spec: {volumeName: w}`, []string{immutable}},
		"the mode":                        {`spec: {}`, `spec: {volumeMode: Block}`, []string{immutable, `volumeMode: Invalid value: "Block": field is immutable`}},
		"the size":                        {`spec: {}`, `spec: {resources: {requests: {storage: 3Gi}}}`, []string{immutable}},
		"the size of a bound claim":       {`{spec: {}, ` + bound + `}`, `{spec: {resources: {requests: {storage: 3Gi}}}, ` + bound + `}`, nil},
		"a smaller size":                  {`{spec: {}, ` + bound + `}`, `{spec: {resources: {requests: {storage: 1025Mi}}}, ` + bound + `}`, nil},
		"the size of the volume":          {`{spec: {}, ` + bound + `}`, `{spec: {resources: {requests: {storage: 1Gi}}}, ` + bound + `}`, []string{"spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"}},
		"the size of the volume, again":   {`{spec: {resources: {requests: {storage: 1Gi}}}, ` + bound + `}`, `{spec: {resources: {requests: {storage: 1Gi}}}, ` + bound + `}`, nil},
		"the limits of a bound claim":     {`{spec: {}, ` + bound + `}`, `{spec: {resources: {requests: {storage: 2Gi}, limits: {storage: 3Gi}}}, ` + bound + `}`, []string{immutable}},
		"the attributes":                  {`spec: {volumeAttributesClassName: a}`, `spec: {volumeAttributesClassName: b}`, []string{immutable}},
		"the attributes of a bound one":   {`{spec: {volumeAttributesClassName: a}, ` + bound + `}`, `{spec: {volumeAttributesClassName: b}, ` + bound + `}`, nil},
		"no attributes":                   {`{spec: {volumeAttributesClassName: a}, ` + bound + `}`, `{spec: {}, ` + bound + `}`, nil},
		"no attributes of an unbound one": {`spec: {volumeAttributesClassName: a}`, `spec: {}`, []string{immutable}},
		"empty attributes":                {`{spec: {volumeAttributesClassName: a}, ` + bound + `}`, `{spec: {volumeAttributesClassName: ""}, ` + bound + `}`, nil},
		"no attributes after some":        {`{spec: {volumeAttributesClassName: a}, ` + applied + `}`, `{spec: {}, ` + applied + `}`, []string{classPath + "update to nil" + afterSome}},
		"empty attributes after some":     {`{spec: {volumeAttributesClassName: a}, ` + applied + `}`, `{spec: {volumeAttributesClassName: ""}, ` + applied + `}`, []string{classPath + "update to empty string" + afterSome}},
		"other attributes after some":     {`{spec: {volumeAttributesClassName: a}, ` + applied + `}`, `{spec: {volumeAttributesClassName: b}, ` + applied + `}`, nil},
		"attributes that stay empty":      {`{spec: {volumeAttributesClassName: ""}, ` + applied + `}`, `{spec: {volumeAttributesClassName: ""}, ` + applied + `}`, nil},
		"a class where there was none":    {`spec: {}`, `spec: {storageClassName: a}`, nil},
		"another class":                   {`spec: {storageClassName: ""}`, `spec: {storageClassName: a}`, []string{immutable}},
		"the class of the annotation":     {annotation, `spec: {storageClassName: a}`, nil},
		"the class, with the annotation":  {annotation, `{` + annotation + `, spec: {storageClassName: a}}`, nil},
		"another class than annotated":    {annotation, `{` + annotation + `, spec: {storageClassName: b}}`, []string{immutable}},
		"another annotation": {annotation, `metadata: {annotations: {volume.beta.kubernetes.io/storage-class: b}}`,
			[]string{`metadata.annotations.volume.beta.kubernetes.io/storage-class: Invalid value: "b": field is immutable`}},
		"an error is reported once": {`spec: {accessModes: [a]}`, `spec: {accessModes: [a]}`, []string{"spec.accessModes: Unsupported"}},
		"what was malformed": {
			`spec: {selector: {matchExpressions: [{key: a, operator: In, values: ["b:"]}]}, dataSource: {apiGroup: A, kind: K, name: a}}`,
			`spec: {selector: {matchExpressions: [{key: a, operator: In, values: ["b:"]}]}, dataSource: {apiGroup: A, kind: K, name: a}}`, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			errs := validatetest.Texts(validatePersistentVolumeClaimUpdate(parseClaim(t, c.pvc), parseClaim(t, c.old)))
			require.Len(t, errs, len(c.want), "%s", errs)
			for i := range c.want {
				require.Contains(t, errs[i], c.want[i])
			}
		})
	}
}

func TestValidatePersistentVolumeClaimStatusUpdate(t *testing.T) {
	const statuses = `"ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"`
	for text, want := range map[string][]string{
		`{}`: nil,
		`status: {capacity: {storage: 0, any: 1m}, allocatedResources: {storage: 1, example.com/a: 0}, allocatedResourceStatuses: {storage: NodeResizePending, example.com/a: ControllerResizeInfeasible}}`: nil,
		`status: {capacity: {storage: '-1e30'}, allocatedResources: {storage: '-1e30'}}`: {
			`status.allocatedResources[storage]: Invalid value: "-1e30": must be greater than or equal to 0`},
		`status: {capacity: {storage: -1}}`: {"status.capacity[storage]: Invalid value: -1: must be a valid resource quantity"},
		`status: {allocatedResources: {cpu: 1, example.com/a: -1, storage: -1m}}`: {
			`status.allocatedResources: Unsupported value: "cpu": supported values: "storage"`,
			"status.allocatedResources[example.com/a]: Invalid value: -1: must be a valid resource quantity",
			"status.allocatedResources[storage]: Invalid value: -1: must be a valid resource quantity",
		},
		`status: {allocatedResourceStatuses: {a.kubernetes.io/b: Done}}`: {
			`status.allocatedResourceStatuses: Unsupported value: "a.kubernetes.io/b": supported values: "storage"`,
			`status.allocatedResourceStatuses: Unsupported value: "a.kubernetes.io/b": supported values: ` + statuses,
		},
		`spec: {accessModes: []}`: {"Spec.accessModes: Required value"},
	} {
		t.Run(text, func(t *testing.T) {
			require.Equal(t, want, validatetest.Texts(validatePersistentVolumeClaimStatusUpdate(parseClaim(t, text), nil)))
		})
	}
}

func TestPersistentVolumeClaimWarnings(t *testing.T) {
	require.Empty(t, persistentVolumeClaimWarnings(parseClaim(t, `spec: {}`)))
	claim := validatetest.Parse[corev1.PersistentVolumeClaim](t, `
metadata: {annotations: {volume.beta.kubernetes.io/storage-class: a}}
spec: {resources: {requests: {storage: 1500m}, limits: {storage: "0.5"}}}
`)
	require.Equal(t, []string{
		`metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead`,
		`spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer`,
		`spec.resources.limits[storage]: fractional byte value "500m" is invalid, must be an integer`,
	}, persistentVolumeClaimUpdateWarnings(claim, nil))
}
