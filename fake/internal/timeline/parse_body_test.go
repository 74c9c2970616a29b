package timeline

import (
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"sigs.k8s.io/yaml"
)

// encodings returns an object in each media type.
func encodings(t *testing.T, object runtime.Object) map[string][]byte {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	metav1.AddToGroupVersion(scheme, corev1.SchemeGroupVersion)
	text, err := json.Marshal(object)
	require.NoError(t, err)
	asYAML, err := yaml.JSONToYAML(text)
	require.NoError(t, err)
	binary, err := runtime.Encode(protobuf.NewSerializer(scheme, scheme), object)
	require.NoError(t, err)
	items, err := runtime.Encode(cbor.NewSerializer(scheme, scheme), object)
	require.NoError(t, err)
	return map[string][]byte{
		runtime.ContentTypeJSON: text, runtime.ContentTypeYAML: asYAML, runtime.ContentTypeProtobuf: binary,
		runtime.ContentTypeCBOR: items, runtime.ContentTypeCBORSequence: items,
	}
}

// framed returns a watch event in a media type.
func framed(t *testing.T, media, kind string, object []byte) []byte {
	t.Helper()
	switch media {
	case runtime.ContentTypeJSON:
		return []byte(`{"type":"` + kind + `","object":` + string(object) + "}\n")
	case runtime.ContentTypeProtobuf:
		event, err := (&metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: object}}).Marshal()
		require.NoError(t, err)
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(event))), event...)
	case runtime.ContentTypeCBORSequence:
		event, err := runtime.Encode(cbor.NewSerializer(runtime.NewScheme(), runtime.NewScheme()),
			&metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: object}})
		require.NoError(t, err)
		return event
	}
	return nil
}

func newPod() *corev1.Pod {
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	pod.Name, pod.Namespace, pod.UID, pod.ResourceVersion = "a", "ns", "u", "6"
	pod.Spec.NodeName = "n"
	return pod
}

func TestBodyInfo(t *testing.T) {
	status := &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Message: "old", Reason: "Expired", Code: 410}
	list := &corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{*newPod()}}
	list.ResourceVersion, list.Continue = "9", "c"
	for _, test := range []struct {
		object runtime.Object
		event  string
		want   bodyInfo
	}{
		{newPod(), "ADDED", bodyInfo{Type: "ADDED", Namespace: "ns", Name: "a", ResourceVersion: "6"}},
		{status, "ERROR", bodyInfo{Type: "ERROR", Name: "Expired", reason: "Expired"}},
		{list, "", bodyInfo{ResourceVersion: "9"}},
	} {
		for media, data := range encodings(t, test.object) {
			if test.event == "" {
				if media != runtime.ContentTypeCBORSequence { // no server responds with a CBOR sequence
					require.Equal(t, test.want, objectInfo(Body{ContentType: media, Data: data}), media)
				}
				continue
			}
			if frame := framed(t, media, test.event, data); frame != nil {
				require.Equal(t, test.want, eventInfo(Body{ContentType: media, Data: frame}), media)
			}
		}
	}
}

// A truncated body is parsed as far as possible, and arbitrary bytes do not cause a panic.
func TestTruncatedBodyInfo(t *testing.T) {
	pod := newPod()
	for media, data := range encodings(t, pod) {
		frame := framed(t, media, "ADDED", data)
		complete := 0
		for n := range len(data) {
			got := objectInfo(Body{ContentType: media, Data: data[:n]})
			if got.ResourceVersion == "6" {
				complete++
			}
		}
		if !strings.Contains(media, "cbor") {
			require.Greater(t, complete, 4, "%s: the resourceVersion comes before the end", media)
		}
		for n := range len(frame) {
			got := eventInfo(Body{ContentType: media, Data: frame[:n]})
			require.Contains(t, []string{"", "6"}, got.ResourceVersion, media)
		}
	}
	for _, garbage := range []string{"", "\xff", "k8s\x00\xff", "k8s\x00\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "{", "[", `{"metadata":3}`, `{"metadata":{"name":{}}}`, "\x00\x00\x00\x01\x0f", "\x00\x00\x00\x02\x08"} {
		for _, media := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf, runtime.ContentTypeCBOR, runtime.ContentTypeCBORSequence, runtime.ContentTypeYAML, "text/plain", ""} {
			require.Empty(t, objectInfo(Body{ContentType: media, Data: []byte(garbage)}).ResourceVersion)
			require.Empty(t, eventInfo(Body{ContentType: media, Data: []byte(garbage)}).Type)
		}
	}
}
