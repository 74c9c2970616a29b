package fuzz_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	fakeapi "example.com/fakeapi/fake"
)

// collections are the collections that bodies are sent to, some with special handling.
var collections = []struct {
	path   string
	custom bool
}{
	{configMapsPath, false},
	{"/api/v1/namespaces/default/pods", false},
	{"/api/v1/namespaces/default/secrets", false},
	{"/api/v1/namespaces", false},
	{"/apis/apps/v1/namespaces/default/deployments", false},
	{"/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers", false},
	{"/apis/events.k8s.io/v1/namespaces/default/events", false},
	{widgetsPath, true},
}

// bodies are the media types of the bodies.
var bodies = []string{mediaJSON, mediaYAML, mediaProtobuf, mediaCBOR}

// newFuzzServer returns a server with a custom resource, to be forked.
func newFuzzServer(f *testing.F, objects ...runtime.Object) *fakeapi.Server {
	f.Helper()
	base, err := fakeapi.New(fakeapi.WithInMemoryNetwork(), fakeapi.WithoutTimeline(), fakeapi.WithCRDs(fakeapi.CRDsFromObjects(decodeCRD(f, widgetCRD))), fakeapi.WithObjects(objects...))
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, base.Close()) })
	return base
}

// A body of any type and encoding is rejected with a Status, or the stored object is the same in
// every encoding. A body that strict validation accepts is accepted by all validations; one that
// only strict validation rejects has a warning. A dry run has the same response as the write.
func FuzzBody(f *testing.F) {
	seedBodies(f)
	base := newFuzzServer(f)
	f.Fuzz(func(t *testing.T, kind, media uint8, body []byte) {
		to := collections[int(kind)%len(collections)]
		sent := bodies[int(media)%len(bodies)]
		p := newProbe(t, base, fakeapi.WithoutControllers())
		start := totalAlloc()
		dry := map[string]probeResponse{}
		for _, validation := range []string{"Ignore", "Warn", "Strict"} {
			dry[validation] = p.do("POST", to.path+"?dryRun=All&fieldValidation="+validation, sent, mediaJSON, body)
		}
		require.Equal(t, dry["Ignore"].code, dry["Warn"].code)
		require.Equal(t, normalizeResponse(t, dry["Ignore"]), normalizeResponse(t, dry["Warn"]))
		message, _ := dry["Strict"].object["message"].(string)
		switch {
		case strings.Contains(message, "strict decoding error"):
			if dry["Warn"].code == http.StatusCreated {
				require.NotEmpty(t, dry["Warn"].header["Warning"], "%s", message)
			}
		default:
			require.Equal(t, normalizeResponse(t, dry["Ignore"]), normalizeResponse(t, dry["Strict"]))
			require.Equal(t, dry["Ignore"].header["Warning"], dry["Strict"].header["Warning"])
			require.Equal(t, dry["Ignore"].header["Warning"], dry["Warn"].header["Warning"])
		}
		stored := p.do("POST", to.path, sent, mediaJSON, body)
		require.Equal(t, normalizeResponse(t, dry["Warn"]), normalizeResponse(t, stored))
		require.Less(t, totalAlloc()-start, uint64(64<<20+1000*len(body)), "bytes")
		if stored.code == http.StatusCreated {
			name, _ := stored.metadata()["name"].(string)
			require.Equal(t, stored.object, p.checkEncodings(to.path, name, to.custom).object)
		}
	})
}

// normalizeResponse returns a response without the values that the server generates.
func normalizeResponse(t *testing.T, a probeResponse) string {
	t.Helper()
	like, meta := maps.Clone(a.object), maps.Clone(a.metadata())
	for _, key := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
		delete(meta, key)
	}
	like["metadata"] = meta
	if a.code == http.StatusConflict || a.code == http.StatusUnprocessableEntity { // the message has the generated name
		delete(like, "message")
		delete(like, "details")
	}
	text, err := json.Marshal(like)
	require.NoError(t, err)
	if name, _ := meta["name"].(string); meta["generateName"] != nil {
		text = bytes.ReplaceAll(text, []byte(name), []byte("(generated)"))
	}
	return strconv.Itoa(a.code) + " " + string(text)
}

func seedBodies(f *testing.F) {
	f.Helper()
	for kind, all := range [][]string{
		{`{"metadata":{"name":"a"},"data":{"k":"v","k":"w"},"x":1}`, `{"metadata":{"generateName":"a-"},"binaryData":{"k":"AA=="},"immutable":true}`, `{"kind":"ConfigMap","apiVersion":"v2"}`, `null`, `[]`, `{"metadata":{"name":"a","managedFields":[{}]}}`},
		{`{"metadata":{"name":"p","finalizers":["a"],"ownerReferences":[{"apiVersion":"v1","kind":"X","name":"x","uid":"1"}]},"spec":{"containers":[],"volumes":null,"terminationGracePeriodSeconds":1.5e0}}`, `{"metadata":{"name":"p","labels":{"a":null},"creationTimestamp":"2026-01-01T00:00:00.5Z"},"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"0.5","memory":1e3}},"ports":[{"containerPort":80}],"env":[{"name":"A"},{"name":"A"}]}]}}`},
		{`{"metadata":{"name":"s"},"data":{"k":"dg=="},"stringData":{"l":"w"},"type":"Opaque"}`, `{"metadata":{"name":"s"},"data":{"k":"!"}}`},
		{`{"metadata":{"name":"n"},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Terminating"}}`, `{"metadata":{"name":"N","namespace":"n"}}`},
		{`{"metadata":{"name":"d"},"spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"creationTimestamp":null},"spec":{"containers":null}},"strategy":{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":1}}}}`},
		{`{"metadata":{"name":"h","annotations":{"autoscaling.alpha.kubernetes.io/metrics":"[{\"type\":\"Resource\"}]"}},"spec":{"scaleTargetRef":{"kind":"D","name":"d"},"maxReplicas":3,"targetCPUUtilizationPercentage":5}}`},
		{`{"metadata":{"name":"e"},"eventTime":"2026-01-01T00:00:00.000001Z","regarding":{"name":"x"},"deprecatedCount":1,"series":{"count":1,"lastObservedTime":null}}`},
		{`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":3,"colour":"x"},"status":{"phase":"x"}}`, `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"w","finalizers":["a/b"]},"spec":{"size":1.0,"color":null},"spec":{}}`, `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":101}}`},
	} {
		for _, body := range all {
			f.Add(uint8(kind), uint8(0), []byte(body))
			f.Add(uint8(kind), uint8(1), []byte(body))
			var object map[string]any
			if json.Unmarshal([]byte(body), &object) == nil && object != nil {
				f.Add(uint8(kind), uint8(3), encodeCBOR(f, object))
			}
		}
	}
	f.Add(uint8(0), uint8(1), []byte("metadata: {name: a, labels: &l {a: b}, annotations: *l}\ndata: {k: |-\n  v\n}"))
	f.Add(uint8(0), uint8(1), []byte("metadata: {name: a}\n---\nmetadata: {name: b}"))
	encoder := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	for kind, obj := range map[uint8]runtime.Object{
		0: &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "a"}, BinaryData: map[string][]byte{"k": {0}}},
		1: &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{GenerateName: "p-"}, Spec: newPod("p").Spec},
		4: &appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: newDeployment("d").Spec},
	} {
		var out strings.Builder
		require.NoError(f, encoder.Encode(obj, &out))
		f.Add(kind, uint8(2), []byte(out.String()))
	}
}
