package codec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// An object that a real server cannot convert is refused in every encoding, also if it has unknown
// fields.
func TestDecodeBodyConversionError(t *testing.T) {
	r := builtin.Table().Lookup("apps", "v1", "deployments")
	const member = `"metadata":{"name":"a","annotations":{"deprecated.deployment.rollback.to":"x"}}`
	d := &appsv1.Deployment{}
	d.APIVersion, d.Kind, d.Annotations = "apps/v1", "Deployment", map[string]string{"deprecated.deployment.rollback.to": "x"}
	encoded, err := protobufBody(d)
	require.NoError(t, err)
	for _, test := range []struct {
		name, body, validation string
		media                  negotiate.Media
	}{
		{"JSON", `{` + member + `}`, "Strict", negotiate.JSON},
		{"JSON with a kind", `{"apiVersion":"apps/v1","kind":"Deployment",` + member + `}`, "Ignore", negotiate.JSON},
		{"unknown field", `{"unknown":1,` + member + `}`, "Warn", negotiate.JSON},
		{"unknown field, strictly", `{"unknown":1,` + member + `}`, "Strict", negotiate.JSON},
		{"YAML", `{` + member + `}`, "Strict", negotiate.YAML},
		{"protobuf", encoded, "", negotiate.Protobuf},
	} {
		obj, warnings, err := DecodeBody(r, test.media, []byte(test.body), test.validation)
		require.EqualError(t, err, `Deployment in version "v1" cannot be handled as a Deployment: `+
			`failed to parse annotation[deprecated.deployment.rollback.to]=x as int64: strconv.ParseInt: parsing "x": invalid syntax`, test.name)
		require.Nil(t, obj, test.name)
		require.Empty(t, warnings, test.name)
	}
}

func protobufBody(d *appsv1.Deployment) (string, error) {
	var b strings.Builder
	err := protobuf.NewSerializer(nil, nil).Encode(d, &b)
	return b.String(), err
}
