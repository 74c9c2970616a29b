package negotiate

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func newAcceptRequest(accept string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/api/v1/pods", nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	return r
}

func newContentTypeRequest(contentType string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/api/v1/pods", nil)
	r.Header.Set("Content-Type", contentType)
	return r
}

func TestResponseOutput(t *testing.T) {
	const meta = ";g=meta.k8s.io;v="
	tests := []struct {
		accept   string
		endpoint Endpoint
		want     Output
		wantErr  string // a part of the message of the 406
	}{
		{"", Object, Output{Media: JSON}, ""},
		{"*/*", Object, Output{Media: JSON}, ""},
		{"application/yaml", Object, Output{Media: YAML}, ""},
		{"application/vnd.kubernetes.protobuf,application/json", Object, Output{Media: Protobuf}, ""},
		{"application/json;q=0.5,application/yaml", Object, Output{Media: YAML}, ""},
		{"application/json;pretty=1", Object, Output{Media: JSON, Pretty: true}, ""},
		{"application/json;as=PartialObjectMetadata" + meta + "v1", Object, Output{Form: Partial}, ""},
		{"application/json;as=PartialObjectMetadataList" + meta + "v1beta1", Collection, Output{Form: PartialList, Beta: true}, ""},
		{"application/json;as=Table" + meta + "v1,application/json", Object, Output{Form: Table}, ""},
		{"application/yaml;as=Table" + meta + "v1beta1", Collection, Output{Media: YAML, Form: Table, Beta: true}, ""},
		{"application/json;as=Table" + meta + "v1,application/json", NotTransformable, Output{}, ""},
		{"application/json;as=Table" + meta + "v1", NotTransformable, Output{}, "only the following media types are accepted"},
		{"application/vnd.kubernetes.protobuf;as=Table" + meta + "v1", Object, Output{}, "only the following media types are accepted"},
		{"application/json;as=PartialObjectMetadata" + meta + "v1", NotTransformable, Output{Form: Partial}, ""},
		{"application/json;as=Table" + meta + "v1", Log, Output{}, "only the following media types are accepted"},
		{"text/plain, application/yaml", Log, Output{Media: YAML}, ""},
		{"text/plain", Log, Output{}, "only the following media types are accepted: application/json"},
		{"text/plain", NotTransformable, Output{}, "406: Not Acceptable\n\nAvailable representations: application/json"},
		{"text/html", Log, Output{}, "406: Not Acceptable\n\nAvailable representations: text/plain, application/json"},
		{"application/*", Unrouted, Output{}, ""},
		{"text/html", Unrouted, Output{}, "only the following media types are accepted"},
		{"application/json;stream=watch", Collection, Output{Media: JSON}, ""},
		{"application/json;sv=v1", Object, Output{}, ""},
		{"application/json;sv=v2,application/yaml", Object, Output{Media: YAML}, ""},
		{"application/json;q=0", Object, Output{}, ""},
		{"application/*, application/yaml", Object, Output{Media: YAML}, ""},
		{"text/*, application/*;q=0.1, */*;q=0.05", Object, Output{}, ""},
		{"application/json;charset=utf-8;foo=bar", Object, Output{}, ""},
		{"application/json;stream=other, application/yaml", Object, Output{Media: YAML}, ""},
		{"application/json;v=v1", Object, Output{}, "only the following media types are accepted"},
		{"application/cbor,application/json;q=0.5", Object, Output{}, ""},
		{"APPLICATION/JSON", Object, Output{}, "406: Not Acceptable"},
		{",", Object, Output{}, "406: Not Acceptable"},
		{"application/cbor", Object, Output{}, "406: Not Acceptable"},
		{"application/cbor-seq", Collection, Output{}, "406: Not Acceptable"},
		{"application/json\t;charset=utf-8", Object, Output{}, "406: Not Acceptable"}, // the router trims spaces only
		{"application/json\t;charset=utf-8", Unrouted, Output{}, "only the following media types are accepted"},
		{" application/json ;charset=utf-8", Object, Output{}, ""},
		{"application/xml", Object, Output{}, "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf"},
		{"text/html", Collection, Output{}, "application/vnd.kubernetes.protobuf;stream=watch"},
		{"application/*", Object, Output{}, "406: Not Acceptable"},
		{"application/json;as=Nope" + meta + "v1", Object, Output{}, "only the following media types are accepted"},
		{"application/json;as=Table" + meta + "v9", Object, Output{}, "only the following media types are accepted"},
		{"application/json;as=PartialObjectMetadata" + meta + "v1", Document, Output{}, "only the following media types are accepted"},
	}
	for _, tt := range tests {
		t.Run(tt.accept, func(t *testing.T) {
			out, err := ResponseOutput(newAcceptRequest(tt.accept), tt.endpoint)
			if tt.wantErr != "" {
				require.True(t, apierrors.IsNotAcceptable(err), "%v", err)
				require.ErrorContains(t, err, tt.wantErr)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, out)
		})
	}
}

// Errors are never transformed. If nothing is acceptable they are indented JSON.
func TestErrorOutput(t *testing.T) {
	for accept, want := range map[string]Output{
		"":                                    {},
		"application/*":                       {},
		"application/xml":                     {Pretty: true},
		"application/vnd.kubernetes.protobuf": {Media: Protobuf},
		"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1": {Pretty: true},
		"application/yaml;sv=v1,application/json":                      {Media: JSON},
	} {
		require.Equal(t, want, ErrorOutput(newAcceptRequest(accept)), accept)
	}
}

func TestPretty(t *testing.T) {
	r := newAcceptRequest("")
	r.Header.Set("User-Agent", "curl/8")
	out, err := ResponseOutput(r, Object)
	require.NoError(t, err)
	require.True(t, out.Pretty, "the output of curl is indented")
	r.URL.RawQuery = "pretty=false"
	out, err = ResponseOutput(r, Object)
	require.NoError(t, err)
	require.False(t, out.Pretty)
}

func TestRequestMediaType(t *testing.T) {
	for contentType, want := range map[string]Media{
		"":                                    JSON,
		"application/json; charset=utf-8":     JSON,
		"application/yaml":                    YAML,
		"application/vnd.kubernetes.protobuf": Protobuf,
	} {
		media, err := RequestMediaType(newContentTypeRequest(contentType))
		require.NoError(t, err)
		require.Equal(t, want, media, contentType)
	}
	for _, contentType := range []string{"text/plain", "application/jsonx", "garbage", "application/cbor"} {
		_, err := RequestMediaType(newContentTypeRequest(contentType))
		require.True(t, apierrors.IsUnsupportedMediaType(err), contentType)
	}
}

// The expected outputs are those of a real server for /api and /apis.
func TestDiscoveryOutput(t *testing.T) {
	const as = ";as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io"
	const beta = "application/json;as=APIGroupDiscoveryList;v=v2beta1;g=apidiscovery.k8s.io"
	aggregated := Output{Form: Aggregated}
	for accept, want := range map[string]Output{
		"":                      {},
		"*/*" + as:              aggregated,
		"application/json" + as: aggregated,
		"application/json, application/json" + as:                        aggregated, // independent of the order
		"application/json;q=0.9, application/json" + as + ";q=0.1":       aggregated,
		beta + ",application/json" + as:                                  aggregated,
		"text/plain, application/json" + as + ";profile=nopeer":          aggregated,
		"application/yaml" + as:                                          {Media: YAML, Form: Aggregated},
		"application/vnd.kubernetes.protobuf" + as + ",application/json": {Media: Protobuf, Form: Aggregated},
		"application/json" + as + ";pretty=1":                            {Form: Aggregated, Pretty: true},
		beta + ",application/json":                                       {},
		beta + ",application/yaml":                                       {Media: YAML},
	} {
		out, err := DiscoveryOutput(newAcceptRequest(accept), Document)
		require.NoError(t, err, accept)
		require.Equal(t, want, out, accept)
	}
	for _, accept := range []string{
		beta, "text/html" + as, "application/json;as=APIGroupDiscoveryList", "application/json;as=Other;v=v2;g=apidiscovery.k8s.io",
		"application/json;sv=v1" + as, "application/yaml;stream=watch" + as, "application/*" + as,
	} {
		_, err := DiscoveryOutput(newAcceptRequest(accept), Document)
		require.True(t, apierrors.IsNotAcceptable(err), "%s: %v", accept, err)
	}
	out, err := DiscoveryOutput(newAcceptRequest("application/*"+as), Unrouted)
	require.NoError(t, err)
	require.Equal(t, aggregated, out)
}
