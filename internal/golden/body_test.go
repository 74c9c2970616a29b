package golden

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// protobuf wraps a message as an API server does.
func protobuf(t *testing.T, kind string, raw []byte) []byte {
	t.Helper()
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: kind}, Raw: raw}
	b, err := u.Marshal()
	require.NoError(t, err)
	return append([]byte(magic), b...)
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
		{"", []byte(`{"a": 1`), `no JSON: "{\"a\": 1"`},
		{"", []byte(`1 2`), `no JSON: "1 2"`},
		{AsText, []byte("a\n"), "a\n"},
		{AsHex, []byte("0123456789abcdef"), "303132333435363738396162"},
		{AsHex, []byte("0"), "30"},
		{AsSummary, []byte(`{"b": [1], "a": {"x": 1, "y": 2}, "c": 1}`), value(t, `{"summary": ["a{2}", "b[1]", "c"]}`)},
		{AsSummary, []byte(`[1]`), "no object: [1]"},
		{AsSummary, []byte(`<`), `no JSON: "<"`},
		{AsProtobuf, []byte("{}"), `no protobuf: "{}"`},
		{AsProtobuf, []byte(magic + "\xff"), "no protobuf: unexpected EOF"},
		{AsProtobuf, protobuf(t, "Status", raw), value(t, `{"magic": "6b387300", "apiVersion": "v1", "kind": "Status",
			"status": "Failure", "reason": "NotFound", "message": "gone", "code": 404}`)},
		{AsProtobuf, protobuf(t, "Pod", []byte("x")), value(t, `{"magic": "6b387300", "apiVersion": "v1", "kind": "Pod",
			"contentType": "", "contentEncoding": "", "hasRaw": true}`)},
	} {
		require.Equal(t, test.want, bodyAs(test.form, test.body), "%s of %q", test.form, test.body)
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
	body, err := readBody(answer(packed.Bytes()))
	require.NoError(t, err)
	require.Equal(t, "hello", string(body))
	_, err = readBody(answer([]byte("hello")))
	require.Error(t, err)
}

func TestNextLine(t *testing.T) {
	body := bufio.NewReader(bytes.NewReader([]byte("{\"type\": \"ADDED\"}\n\nnonsense\n{}")))
	for _, want := range []any{map[string]any{"type": "ADDED"}, nil, `no JSON: "nonsense"`} {
		event, err := nextLine(body)
		require.NoError(t, err)
		require.Equal(t, want, event)
	}
	event, err := nextLine(body)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, map[string]any{}, event)
}

func TestNextFrame(t *testing.T) {
	frame := func(b []byte) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
	}
	added, err := (&metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: protobuf(t, "Pod", nil)}}).Marshal()
	require.NoError(t, err)
	body := bufio.NewReader(bytes.NewReader(append(append(frame(added), frame([]byte("\xff"))...), 0, 0, 0, 9, 1)))
	event, err := nextFrame(body)
	require.NoError(t, err)
	require.Equal(t, value(t, `{"type": "ADDED", "protobufObject": {"magic": "6b387300", "apiVersion": "v1", "kind": "Pod",
		"contentType": "", "contentEncoding": "", "hasRaw": false}}`), event)
	event, err = nextFrame(body)
	require.NoError(t, err)
	require.Contains(t, event, "no WatchEvent")
	event, err = nextFrame(body)
	require.Error(t, err)
	require.Equal(t, "no frame: it is cut short", event)
	_, err = nextFrame(body)
	require.ErrorIs(t, err, io.EOF)

	event, err = nextFrame(bufio.NewReader(bytes.NewReader([]byte{0xff, 0, 0, 0})))
	require.Error(t, err)
	require.Contains(t, event, "no frame: its length is")
}
