package fakeapi_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// Large responses are compressed in each encoding and have the same content (HT-02, HT-03).
func TestGzip(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithFeature(fakeapi.CBOR, true), fakeapi.WithObjects(newKiBConfigMaps(200)...))
	for _, media := range []string{mediaJSON, "application/yaml", mediaProtobuf, mediaCBOR, mediaJSON + ";pretty=1",
		mediaJSON + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"} {
		plain := sendWith(t, srv, http.MethodGet, configMapsPath, "", "Accept", media, "Accept-Encoding", "identity")
		require.Empty(t, plain.header.Get("Content-Encoding"))
		require.Equal(t, plain.header.Get("Content-Length"), strconv.Itoa(len(plain.body)), media)
		compressed := sendWith(t, srv, http.MethodGet, configMapsPath, "", "Accept", media, "Accept-Encoding", "gzip")
		if len(plain.body) <= 128<<10 {
			require.Empty(t, compressed.header.Get("Content-Encoding"), media)
			require.Equal(t, plain.body, compressed.body)
			continue
		}
		require.Equal(t, "gzip", compressed.header.Get("Content-Encoding"), media)
		require.Equal(t, "Accept-Encoding", compressed.header.Get("Vary"))
		require.Equal(t, plain.header.Get("Content-Type"), compressed.header.Get("Content-Type"))
		z, err := gzip.NewReader(bytes.NewReader(compressed.body))
		require.NoError(t, err)
		decompressed, err := io.ReadAll(z)
		require.NoError(t, err)
		require.True(t, bytes.Equal(plain.body, decompressed), media)
		require.Less(t, len(compressed.body), len(plain.body)/4, media)
	}
	small := sendWith(t, srv, http.MethodGet, configMapsPath+"?limit=100", "", "Accept-Encoding", "gzip")
	require.Empty(t, small.header.Get("Content-Encoding"))
}

// client-go requests gzip by default. Fault rules and the timeline use the uncompressed content.
func TestGzipWithFaults(t *testing.T) {
	rule, err := faults.Parse(`edit: when verb(list) do set(/metadata/resourceVersion, "7")`)
	require.NoError(t, err)
	srv := fakeapi.Start(t, fakeapi.WithObjects(newKiBConfigMaps(300)...), fakeapi.WithFaults(rule))
	config := srv.RESTConfig()
	config.ContentType = mediaJSON
	compressed := false
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(r)
			compressed = err == nil && resp.Uncompressed
			return resp, err
		})
	})
	list, err := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.True(t, compressed)
	require.Len(t, list.Items, 300)
	require.Equal(t, "7", list.ResourceVersion)
	require.Contains(t, srv.Timeline().String(), "rv=7")
}

// The response with a single large object is compressed.
func TestGzipObject(t *testing.T) {
	big := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "big", Namespace: "default"}, Data: map[string]string{}}
	big.Data["k"] = string(bytes.Repeat([]byte("v"), 200<<10))
	srv := fakeapi.Start(t, fakeapi.WithObjects(big))
	got := sendWith(t, srv, http.MethodGet, configMapsPath+"/big", "", "Accept-Encoding", "gzip")
	require.Equal(t, "gzip", got.header.Get("Content-Encoding"))
}
