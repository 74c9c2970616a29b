package faults_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// cborEvent returns a watch event in CBOR, encoded as by kube-apiserver.
func cborEvent(t *testing.T, kind, name, revision string) []byte {
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	metav1.AddToGroupVersion(scheme, corev1.SchemeGroupVersion)
	serializer := cbor.NewSerializer(scheme, scheme)
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	pod.Name, pod.Namespace, pod.ResourceVersion = name, "ns", revision
	var object, event bytes.Buffer
	require.NoError(t, serializer.Encode(pod, &object))
	require.NoError(t, serializer.Encode(&metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: object.Bytes()}}, &event))
	return event.Bytes()
}

// serveCBOR returns a handler that writes stream in pieces.
func serveCBOR(stream []byte, piece int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/cbor-seq")
		for rest := stream; len(rest) > 0; {
			n := min(piece, len(rest))
			_, _ = w.Write(rest[:n])
			_ = http.NewResponseController(w).Flush()
			rest = rest[n:]
		}
	})
}

// eventStrings decodes a stream. Each event is "TYPE NAME REVISION", or "TYPE REASON " for a
// Status.
func eventStrings(t *testing.T, stream string) (events []string) {
	for _, frame := range splitCBORFrames(t, []byte(stream)) {
		var event map[string]any
		require.NoError(t, direct.Unmarshal(frame, &event))
		object := unstructured.Unstructured{Object: event["object"].(map[string]any)}
		reason, _, _ := unstructured.NestedString(object.Object, "reason")
		events = append(events, event["type"].(string)+" "+object.GetName()+reason+" "+object.GetResourceVersion())
	}
	return events
}

// splitCBORFrames splits a stream with the framer of apimachinery.
func splitCBORFrames(t *testing.T, stream []byte) (frames [][]byte) {
	r := cbor.NewFramer().NewFrameReader(io.NopCloser(bytes.NewReader(stream)))
	buffer := make([]byte, 1<<16)
	for {
		n, err := r.Read(buffer)
		if errors.Is(err, io.EOF) {
			return frames
		}
		require.NoError(t, err)
		frames = append(frames, bytes.Clone(buffer[:n]))
	}
}

func TestRulesOnFramesInCBOR(t *testing.T) {
	stream := bytes.Join([][]byte{
		cborEvent(t, "ADDED", "a", "5"), cborEvent(t, "MODIFIED", "b", "6"), cborEvent(t, "BOOKMARK", "", "7"),
	}, nil)
	for rule, want := range map[string][]string{
		"":                             {"ADDED a 5", "MODIFIED b 6", "BOOKMARK  7"},
		"when event(ADDED) do drop":    {"MODIFIED b 6", "BOOKMARK  7"},
		"when event(BOOKMARK) do drop": {"ADDED a 5", "MODIFIED b 6"},
		"when event(MODIFIED) && name(b) do duplicate":                  {"ADDED a 5", "MODIFIED b 6", "MODIFIED b 6", "BOOKMARK  7"},
		"when event(MODIFIED) do error(410, Expired)":                   {"ADDED a 5", "ERROR Expired "},
		"when event(MODIFIED) do end":                                   {"ADDED a 5"},
		"when event(ADDED) do set(/object/metadata/resourceVersion, 0)": {"ADDED a 0", "MODIFIED b 6", "BOOKMARK  7"},
		"when event(ADDED) do set(/type, SYNC)":                         {"SYNC a 5", "MODIFIED b 6", "BOOKMARK  7"},
	} {
		for _, piece := range []int{1, 7, 1 << 16} {
			var rules []string
			if rule != "" {
				rules = append(rules, rule)
			}
			w := newTestServer(t, serveCBOR(stream, piece), rules...).watch("")
			require.Equal(t, 200, w.resp.StatusCode)
			rest, err := w.readAll()
			require.NoError(t, err)
			require.Equal(t, want, eventStrings(t, rest), "%s in pieces of %d", rule, piece)
		}
	}
}

// TestErrorFrameInCBOR tests that a client decodes the ERROR event into a metav1.Status.
func TestErrorFrameInCBOR(t *testing.T) {
	w := newTestServer(t, serveCBOR(cborEvent(t, "ADDED", "a", "5"), 100), "when event(ADDED) do error(410, Expired, gone)").watch("")
	rest, err := w.readAll()
	require.NoError(t, err)
	frames := splitCBORFrames(t, []byte(rest))
	require.Len(t, frames, 1)
	var event metav1.WatchEvent
	require.NoError(t, direct.Unmarshal(frames[0], &event))
	require.Equal(t, "ERROR", event.Type)
	var status metav1.Status
	require.NoError(t, direct.Unmarshal(event.Object.Raw, &status))
	require.Equal(t, metav1.StatusReasonExpired, status.Reason)
	require.EqualValues(t, 410, status.Code)
	require.Equal(t, "gone", status.Message)
}

// TestCBORItemForms tests that the ends of all forms of items are found, however the stream is
// split.
func TestCBORItemForms(t *testing.T) {
	const added = "\xa2\x44type\x45ADDED\x46object\xa0"
	for name, item := range map[string]string{
		"marked":                "\xd9\xd9\xf7" + added,
		"open map":              "\xbf\x44type\x45ADDED\x46object\xa0\xff",
		"open string":           "\xa2\x44type\x5f\x42AD\x43DED\xff\x46object\xa0",
		"numbers":               "\xa2\x44type\x45ADDED\x46object\xa5\x41a\x18\xff\x41b\x19\xff\xff\x41c\x1a\xff\xff\xff\xff\x41d\x3b\x00\x00\x00\x00\x00\x00\x00\xff\x41e\xfb\x40\x09\x21\xfb\x54\x44\x2d\x18",
		"lists":                 "\xa2\x44type\x45ADDED\x46object\xa1\x41l\x84\x80\x9f\xff\x82\xf5\xf6\x9f\x01\x81\x02\xff",
		"a long string":         "\xa2\x44type\x45ADDED\x46object\xa1\x41s\x58\x20" + "01234567890123456789012345678901",
		"empty strings, floats": "\xa2\x44type\x45ADDED\x46object\xa2\x40\x40\x41f\xfa\x3f\x80\x00\x00",
	} {
		for piece := 1; piece <= len(item)+1; piece++ {
			s := newTestServer(t, serveCBOR([]byte(item+item), piece), "when event(ADDED) && nth(2) do drop")
			rest, err := s.watch("").readAll()
			require.NoError(t, err)
			require.Equal(t, item, rest, "%s in pieces of %d", name, piece)
		}
	}
}

// TestInvalidCBORPasses tests that invalid CBOR and items that are not events are passed on
// unchanged.
func TestInvalidCBORPasses(t *testing.T) {
	for _, stream := range []string{"\xa0", "\x00", "\xa1\x44type\x40", "\x1c", "\xff", "\xa2\x1d", "\x5b\xff\xff\xff\xff\xff\xff\xff\xff", "\xa1\x61", "\xdf", "\x82\xff", "\x9f\x81\xff"} {
		s := newTestServer(t, serveCBOR([]byte(stream), 1), "when during(stream) do drop")
		rest, err := s.watch("").readAll()
		require.NoError(t, err)
		require.Equal(t, stream, rest)
	}
}
