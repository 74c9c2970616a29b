package golden

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestNextLine(t *testing.T) {
	body := bufio.NewReader(bytes.NewReader([]byte("{\"type\": \"ADDED\"}\n\nnonsense\n{}")))
	for _, want := range []any{map[string]any{"type": "ADDED"}, nil, `invalid JSON: "nonsense"`} {
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
	pod, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "Pod"}}).Marshal()
	require.NoError(t, err)
	podInProtobuf := append([]byte("k8s\x00"), pod...)
	added, err := (&metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: podInProtobuf}}).Marshal()
	require.NoError(t, err)
	body := bufio.NewReader(bytes.NewReader(append(append(frame(added), frame([]byte("\xff"))...), 0, 0, 0, 9, 1)))
	event, err := nextFrame(body)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"type": "ADDED", "protobufObject": map[string]any{
		"magic": "6b387300", "apiVersion": "v1", "kind": "Pod", "contentType": "", "contentEncoding": "", "hasRaw": false,
	}}, event)
	event, err = nextFrame(body)
	require.NoError(t, err)
	require.Contains(t, event, "invalid WatchEvent")
	event, err = nextFrame(body)
	require.Error(t, err)
	require.Equal(t, "invalid frame: it is truncated", event)
	_, err = nextFrame(body)
	require.ErrorIs(t, err, io.EOF)

	event, err = nextFrame(bufio.NewReader(bytes.NewReader([]byte{0xff, 0, 0, 0})))
	require.Error(t, err)
	require.Contains(t, event, "invalid frame: its length is")
}
