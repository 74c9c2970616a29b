package httpdiff

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/internal/frames"
)

// protobuf encodes a message as an API server does.
func protobuf(t *testing.T, kind string, raw []byte) []byte {
	t.Helper()
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: kind}, Raw: raw}
	b, err := u.Marshal()
	require.NoError(t, err)
	return append([]byte(frames.ProtobufPrefix), b...)
}

func TestBodyAs(t *testing.T) {
	status := metav1.Status{Status: "Failure", Reason: "NotFound", Message: "gone", Code: 404}
	raw, err := status.Marshal()
	require.NoError(t, err)
	for _, test := range []struct {
		form string
		body []byte
		want any
	}{
		{"", nil, nil},
		{AsText, nil, nil},
		{"", []byte(`{"a": 1}`), value(t, `{"a": 1}`)},
		{"", []byte(`{"a": 1`), `invalid JSON: "{\"a\": 1"`},
		{"", []byte(`1 2`), `invalid JSON: "1 2"`},
		{AsText, []byte("a\n"), "a\n"},
		{AsHex, []byte("0123456789abcdef"), "303132333435363738396162"},
		{AsHex, []byte("0"), "30"},
		{AsSummary, []byte(`{"b": [1], "a": {"x": 1, "y": 2}, "c": 1}`), value(t, `{"summary": ["a{2}", "b[1]", "c"]}`)},
		{AsSummary, []byte(`[1]`), "not an object: [1]"},
		{AsSummary, []byte(`<`), `invalid JSON: "<"`},
		{AsProtobuf, []byte("{}"), `invalid protobuf: "{}"`},
		{AsProtobuf, []byte(frames.ProtobufPrefix + "\xff"), "invalid protobuf: unexpected EOF"},
		{AsProtobuf, protobuf(t, "Status", raw), value(t, `{"magic": "6b387300", "apiVersion": "v1", "kind": "Status",
			"status": "Failure", "reason": "NotFound", "message": "gone", "code": 404}`)},
		{AsProtobuf, protobuf(t, "Pod", []byte("x")), value(t, `{"magic": "6b387300", "apiVersion": "v1", "kind": "Pod",
			"contentType": "", "contentEncoding": "", "hasRaw": true}`)},
	} {
		require.Equal(t, test.want, BodyAs(test.form, test.body), "%s of %q", test.form, test.body)
	}
}

func TestReadBodyUnpacks(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte("hello"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	answer := func(content []byte) *http.Response {
		return &http.Response{Header: http.Header{"Content-Encoding": {"gzip"}}, Body: io.NopCloser(bytes.NewReader(content))}
	}
	body, err := ReadBody(answer(packed.Bytes()))
	require.NoError(t, err)
	require.Equal(t, "hello", string(body))
	_, err = ReadBody(answer([]byte("hello")))
	require.Error(t, err)
}
