package negotiate

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server with CBOR accepts and serves it, and lists it last in its errors.
func TestCBOR(t *testing.T) {
	tests := []struct {
		accept   string
		endpoint Endpoint
		want     Output
		wantErr  string
	}{
		{"application/cbor", Object, Output{Media: CBOR}, ""},
		{"application/json;q=0.9,application/cbor;q=1", Collection, Output{Media: CBOR}, ""},
		{"*/*;q=0.5", Object, Output{Media: JSON}, ""},
		{"application/cbor;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", Object, Output{Media: CBOR, Form: Partial}, ""},
		{"application/cbor-seq,application/json", Collection, Output{}, ""},
		{"application/cbor-seq", Collection, Output{}, "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor"},
		{"application/cbor-seq", Object, Output{}, "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor"},
		{"application/xml", Collection, Output{}, "application/cbor, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch, application/cbor-seq"},
		{"application/cbor;as=Table;g=meta.k8s.io;v=v1", Object, Output{}, "only the following media types are accepted"},
	}
	for _, tt := range tests {
		out, err := ResponseOutput(WithCBOR(newAcceptRequest(tt.accept)), tt.endpoint)
		if tt.wantErr != "" {
			require.ErrorContains(t, err, tt.wantErr, tt.accept)
			continue
		}
		require.NoError(t, err, tt.accept)
		require.Equal(t, tt.want, out, tt.accept)
	}
	media, err := RequestMediaType(WithCBOR(newContentTypeRequest("application/cbor")))
	require.NoError(t, err)
	require.Equal(t, CBOR, media)
	require.ErrorContains(t, CheckStream(WithCBOR(newAcceptRequest("")), Output{Media: YAML}), ", application/cbor-seq")
	require.NoError(t, CheckStream(WithCBOR(newAcceptRequest("")), Output{Media: CBOR}))
	require.Equal(t, "application/cbor-seq", ContentType(CBOR, true))
	require.Equal(t, "application/cbor", ContentType(CBOR, false))
	require.True(t, IsCBOREnabled(WithCBOR(&http.Request{})))
}
