package openapi

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	utilproto "k8s.io/kube-openapi/pkg/util/proto"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// kubectl apply creates patches by the v3 or v2 documents. They equal those created by the Go
// types, which have the merge keys in their tags.
func TestStrategicPatchesAgree(t *testing.T) {
	message := new(openapi_v2.Document)
	require.NoError(t, proto.Unmarshal(documents().V2().Protobuf(), message))
	models, err := utilproto.NewOpenAPIData(message)
	require.NoError(t, err)
	filler, lists := objectFiller(), 0
	for _, r := range builtin.Table().Stored() {
		if resource.IsCRDResource(r) { // its values are arbitrary JSON
			continue
		}
		name := nameOf(reflect.TypeOf(r.New()).Elem())
		schemas := parsed(t, versionPath(r.Group, r.Version)).Components.Schemas
		byStruct, err := strategicpatch.NewPatchMetaFromStruct(r.New())
		require.NoError(t, err)
		byV3 := strategicpatch.PatchMetaFromOpenAPIV3{Schema: schemas[name], SchemaList: schemas}
		byV2 := strategicpatch.NewPatchMetaFromOpenAPI(models.LookupModel(name))
		for range 5 {
			var bodies [3][]byte
			for i := range bodies {
				obj := r.New()
				filler.Fill(obj)
				bodies[i], err = json.Marshal(obj)
				require.NoError(t, err)
			}
			patch := func(meta strategicpatch.LookupPatchMeta) string {
				made, err := strategicpatch.CreateThreeWayMergePatch(bodies[0], bodies[1], bodies[2], meta, true)
				require.NoError(t, err, r.Kind)
				return string(made)
			}
			want := patch(byStruct)
			require.JSONEq(t, want, patch(byV3), r.Kind)
			require.JSONEq(t, want, patch(byV2), r.Kind)
			if strings.Contains(want, "$patch") || strings.Contains(want, "$setElementOrder") {
				lists++
			}
		}
	}
	require.Greater(t, lists, 50, "patches of lists by their keys")
}
