package lifecycle

import (
	"embed"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// testdata has the files that tests read. They are embedded, because go test reuses the result of a
// test in another checkout only if the test opens no files of the module.
//
//go:embed testdata
var testdata embed.FS

// recordedWrites is testdata/writes.json: the responses of a real v0.37.2 server to creates,
// updates and status updates, all with dryRun.
type recordedWrites struct {
	Base  json.RawMessage
	Cases []recordedWrite
}

// recordedWrite is a write of the base definition changed by the JSON patch New. If Old is set, it
// is an update of the established base definition changed by Old.
type recordedWrite struct {
	Name, Verb string
	Old, New   json.RawMessage
	Response   struct {
		Code           int
		Message        string
		Causes         []metav1.StatusCause
		Warnings       []string
		Generation     int64
		StoredVersions []string
	}
}

// decodeCRD decodes a definition after a patch, as a server does.
func decodeCRD(t *testing.T, raw []byte, patch json.RawMessage) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	if len(patch) > 0 {
		operations, err := jsonpatch.DecodePatch(patch)
		require.NoError(t, err)
		raw, err = operations.Apply(raw)
		require.NoError(t, err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, json.Unmarshal(raw, crd))
	require.NoError(t, Canonicalize(crd))
	return crd
}

// newEstablishedCRD returns the state of a definition after the controllers ran.
func newEstablishedCRD(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	PrepareForCreate(crd)
	require.Empty(t, Validate(t.Context(), crd))
	crd.ResourceVersion = "1"
	states := reconcileCRD(crd, nil, time.Now())
	require.NotEmpty(t, states)
	return states[len(states)-1]
}

// run handles a write as a server does.
func (w recordedWrite) run(t *testing.T, base []byte) (crd *apiextensionsv1.CustomResourceDefinition, errs field.ErrorList, warnings []string) {
	t.Helper()
	if w.Verb == "create" {
		crd = decodeCRD(t, base, w.New)
		PrepareForCreate(crd)
		return crd, Validate(t.Context(), crd), WarningsOnCreate(crd)
	}
	old := newEstablishedCRD(t, decodeCRD(t, base, w.Old))
	raw, err := json.Marshal(old)
	require.NoError(t, err)
	crd = decodeCRD(t, raw, w.New)
	before := old.DeepCopy()
	if w.Verb == "status" {
		PrepareStatusForUpdate(crd, old)
		require.Empty(t, cmp.Diff(old.Spec, crd.Spec), "the status subresource does not write the spec")
		errs = ValidateStatusUpdate(t.Context(), crd, old)
	} else {
		PrepareForUpdate(crd, old)
		errs, warnings = ValidateUpdate(t.Context(), crd, old), WarningsOnUpdate(crd, old)
	}
	require.Empty(t, cmp.Diff(before, old), "the old object is unchanged")
	return crd, errs, warnings
}

func TestRecordedWrites(t *testing.T) {
	raw, err := testdata.ReadFile("testdata/writes.json")
	require.NoError(t, err)
	var recorded recordedWrites
	require.NoError(t, json.Unmarshal(raw, &recorded))
	require.NotEmpty(t, recorded.Cases)
	for _, write := range recorded.Cases {
		t.Run(write.Verb+" "+write.Name, func(t *testing.T) {
			crd, errs, warnings := write.run(t, recorded.Base)
			if write.Response.Code >= 300 {
				require.NotEmpty(t, errs)
				status := apierrors.NewInvalid(apiextensions.Kind("CustomResourceDefinition"), crd.Name, errs).Status()
				require.ElementsMatch(t, write.Response.Causes, status.Details.Causes) // the order is random on a real server
				if len(errs) == 1 {
					require.Equal(t, write.Response.Message, status.Message)
				}
				return
			}
			require.Empty(t, errs)
			require.ElementsMatch(t, write.Response.Warnings, warnings)
			require.Equal(t, write.Response.Generation, crd.Generation)
			require.Equal(t, write.Response.StoredVersions, crd.Status.StoredVersions)
		})
	}
}

// mustJSON encodes a value.
func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return raw
}
