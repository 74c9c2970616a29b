package fakeapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

const (
	asTable     = "application/json;as=Table;v=v1;g=meta.k8s.io"
	asYAMLTable = "application/yaml;as=Table;v=v1;g=meta.k8s.io"
)

// fetch sends a request without a body and returns the response.
func fetch(t *testing.T, srv *fakeapi.Server, method, path, accept string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, srv.URL()+path, nil)
	require.NoError(t, err)
	req.Header.Set("Accept", accept)
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, body
}

// decodeTable returns a Table and its cells.
func decodeTable(t *testing.T, body []byte) (metav1.Table, [][]any) {
	t.Helper()
	var table metav1.Table
	require.NoError(t, json.Unmarshal(body, &table))
	require.Equal(t, "Table", table.Kind)
	require.Equal(t, "meta.k8s.io/v1", table.APIVersion)
	rows := make([][]any, 0, len(table.Rows))
	for _, row := range table.Rows {
		rows = append(rows, row.Cells)
	}
	return table, rows
}

// The age in a row is computed by the clock of the server for each response, also if the row is
// cached.
func TestTableAges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("a", "v")))
		age := func() any {
			_, body := fetch(t, srv, "GET", "/api/v1/namespaces/default/configmaps", asTable)
			_, rows := decodeTable(t, body)
			require.Equal(t, []any{"a", 1.0}, rows[0][:2])
			_, body = fetch(t, srv, "GET", "/api/v1/namespaces/default/configmaps/a", asTable)
			_, one := decodeTable(t, body)
			require.Equal(t, rows, one)
			return rows[0][2]
		}
		require.Equal(t, "0s", age())
		time.Sleep(90 * time.Second)
		require.Equal(t, "90s", age())
		srv.SkewClock(time.Hour)
		require.Equal(t, "61m", age())
		srv.SkewClock(-time.Hour)
		require.Equal(t, "<invalid>", age())
	})
}

// The exact text of Tables with and without objects.
func TestTableWithFullObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		for path, want := range map[string]string{
			"/apis/rbac.authorization.k8s.io/v1/roles": `"rows":null}`, // as without a printer
			"/api/v1/namespaces/default/configmaps":    `"rows":[]}`,
		} {
			resp, body := fetch(t, srv, "GET", path, asTable)
			require.Equal(t, int64(len(body)), resp.ContentLength)
			require.True(t, strings.HasSuffix(string(body), want+"\n"), "%s", body)
		}
		client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
		for _, name := range []string{"a", "b"} {
			_, err := client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "u"}}, metav1.CreateOptions{})
			require.NoError(t, err)
		}
		for include, want := range map[string]string{
			"None":     `"rows":[{"cells":["a",0,"0s"],"object":null},{"cells":["b",0,"0s"],"object":null}]}`,
			"Metadata": `"rows":[{"cells":["a",0,"0s"],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a",`,
			"":         `},{"cells":["b",0,"0s"],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"b",`,
			"Object":   `},{"cells":["b",0,"0s"],"object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"b",`,
		} {
			resp, body := fetch(t, srv, "GET", "/api/v1/namespaces/default/configmaps?includeObject="+include, asTable)
			require.Equal(t, int64(len(body)), resp.ContentLength)
			require.Contains(t, string(body), want)
			require.True(t, json.Valid(body))
		}
		_, body := fetch(t, srv, "GET", "/api/v1/namespaces/default/configmaps", asYAMLTable)
		fromYAML, err := yaml.YAMLToJSON(body)
		require.NoError(t, err)
		_, rows := decodeTable(t, fromYAML)
		require.Equal(t, [][]any{{"a", 0.0, "0s"}, {"b", 0.0, "0s"}}, rows)
	})
}

// A large Table is compressed.
func TestLargeTableIsCompressed(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(newPods(1000)...))
	for _, accept := range []string{asTable, asYAMLTable} {
		resp, body := fetch(t, srv, "GET", "/api/v1/namespaces/default/pods", accept)
		require.True(t, resp.Uncompressed, "the transport decompresses it")
		if accept == asYAMLTable {
			var err error
			body, err = yaml.YAMLToJSON(body)
			require.NoError(t, err)
		}
		_, rows := decodeTable(t, body)
		require.Len(t, rows, 1000)
	}
}

// The versions of a type have the same columns. The rows have objects of the requested version.
func TestTableVersions(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(
		&corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: "e", Namespace: "default"}, Reason: "Tested", Type: "Normal", Message: " it is \n",
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "p", Namespace: "default"}, ReportingController: "me",
		},
		&autoscalingv1.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Name: "h", Namespace: "default"},
			Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
				ScaleTargetRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "d"}, MaxReplicas: 3,
				TargetCPUUtilizationPercentage: new(int32(50)),
			},
		},
	))
	for path, want := range map[string][]any{
		"/api/v1/namespaces/default/events":                                {"<unknown>", "Normal", "Tested", "pod/p", "", "me", "it is", "<unknown>", 1.0, "e"},
		"/apis/events.k8s.io/v1/namespaces/default/events":                 {"<unknown>", "Normal", "Tested", "pod/p", "", "me", "it is", "<unknown>", 1.0, "e"},
		"/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers": {"h", "Deployment/d", "cpu: <unknown>/50%", "1", 3.0, 0.0},
		"/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers": {"h", "Deployment/d", "cpu: <unknown>/50%", "1", 3.0, 0.0},
	} {
		_, body := fetch(t, srv, "GET", path+"?includeObject=Object", asTable)
		table, rows := decodeTable(t, body)
		require.Equal(t, want, rows[0][:len(want)], path)
		var shown metav1.TypeMeta
		require.NoError(t, json.Unmarshal(table.Rows[0].Object.Raw, &shown))
		require.Contains(t, path, shown.APIVersion)
	}
}

// A Scale has columns of its own. A response that cannot be a Table returns 406.
func TestTableOfSubresources(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(
		newPod("p"), newDeployment("d", func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(4)) }),
	))
	_, body := fetch(t, srv, "GET", "/apis/apps/v1/namespaces/default/deployments/d/scale", asTable)
	table, rows := decodeTable(t, body)
	require.Equal(t, []any{"d", 4.0, 0.0}, rows[0][:3])
	require.Equal(t, "Desired", table.ColumnDefinitions[1].Name)
	_, body = fetch(t, srv, "GET", "/apis/apps/v1/namespaces/default/deployments/d/status", asTable)
	_, rows = decodeTable(t, body)
	require.Equal(t, []any{"d", "0/4"}, rows[0][:2])

	for _, accept := range []string{asTable, asTable + ",application/json"} {
		resp, body := fetch(t, srv, "GET", "/api/v1/namespaces/default/pods/p/ephemeralcontainers", accept)
		if accept == asTable {
			require.Equal(t, http.StatusNotAcceptable, resp.StatusCode)
		} else {
			require.Contains(t, string(body), `{"kind":"Pod"`)
		}
	}
}

// Objects of every type are returned as Tables by each verb.
func TestEveryResourceAsTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers())
		for _, res := range storedResources() {
			w := &resourceTest{T: t, srv: srv, res: res, name: validNameFor(res)}
			body, err := newObject(t, res, w.name).MarshalJSON()
			require.NoError(t, err)
			for _, step := range []struct {
				method, url string
				body        []byte
			}{{"POST", w.collection(), body}, {"GET", w.item(), nil}, {"GET", w.collection(), nil}, {"DELETE", w.collection(), nil}} {
				req, err := http.NewRequestWithContext(t.Context(), step.method, step.url+"?includeObject=Object&fieldSelector=metadata.name%3D"+w.name, bytes.NewReader(step.body))
				require.NoError(t, err)
				req.Header.Set("Accept", asTable)
				resp, err := srv.Client().Do(req)
				require.NoError(t, err)
				response, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				require.Equal(t, int64(len(response)), resp.ContentLength)
				if step.method == "DELETE" && !res.HasVerb("deletecollection") {
					continue
				}
				table, rows := decodeTable(t, response)
				require.Len(t, rows, 1, "%s %s: %s", step.method, step.url, response)
				require.GreaterOrEqual(t, len(rows[0]), len(table.ColumnDefinitions))
				require.Contains(t, rows[0], w.name)
				require.NotEmpty(t, table.ResourceVersion)
				var shown metav1.PartialObjectMetadata
				require.NoError(t, json.Unmarshal(table.Rows[0].Object.Raw, &shown))
				require.Equal(t, res.GroupVersionKind(), shown.GroupVersionKind())
				require.Equal(t, w.name, shown.Name)
			}
		}
	})
}

// Every type can be watched as Tables. The bookmark at the end of the initial events is a row
// without cells.
func TestEveryResourceAsWatchedTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers())
		for _, res := range storedResources() {
			w := &resourceTest{T: t, srv: srv, res: res, media: "application/json", codec: codecs()["application/json"], name: validNameFor(res)}
			made := w.object(http.MethodPost, w.collection(), newTypedObject(t, res, w.name), http.StatusCreated)
			for include, shown := range map[string]string{"": "PartialObjectMetadata", "None": "", "Object": res.Kind} {
				_, body := fetch(t, srv, "GET", strings.TrimPrefix(w.collection(), srv.URL())+"?watch=true&sendInitialEvents=true&timeoutSeconds=1"+
					"&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&fieldSelector=metadata.name%3D"+w.name+"&includeObject="+include, asTable)
				frames := strings.Split(strings.TrimSpace(string(body)), "\n")
				require.GreaterOrEqual(t, len(frames), 2, "%s", body)
				for i, frame := range frames[:2] {
					var event struct {
						Type   string
						Object json.RawMessage
					}
					require.NoError(t, json.Unmarshal([]byte(frame), &event))
					require.Equal(t, []string{"ADDED", "BOOKMARK"}[i], event.Type)
					table, _ := decodeTable(t, event.Object)
					require.Equal(t, i == 0, len(table.ColumnDefinitions) > 0)
					require.Len(t, table.Rows, 1)
					var o metav1.PartialObjectMetadata
					if raw := table.Rows[0].Object.Raw; raw != nil {
						require.NoError(t, json.Unmarshal(raw, &o))
					}
					if i == 1 && include == "None" { // a client could not recognize the end otherwise
						require.Equal(t, "PartialObjectMetadata", o.Kind)
					} else {
						require.Equal(t, shown, o.Kind)
					}
					if i == 1 {
						require.Equal(t, "true", o.Annotations[metav1.InitialEventsAnnotationKey])
						continue
					}
					require.Equal(t, made.GetResourceVersion(), table.ResourceVersion)
				}
			}
			w.do(http.MethodDelete, w.item(), "", nil, http.StatusOK)
		}
	})
}

// Invalid Table options are reported only when the Table is created, after the write. A Success is
// a Status in the accepted encoding, not a Table.
func TestTableOptionErrors(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(configMap("a", "v"), configMap("b", "v"), configMap("c", "v"), configMap("d", "v")))
	const maps = "/api/v1/namespaces/default/configmaps"
	for _, path := range []string{maps + "/a", maps} {
		resp, body := fetch(t, srv, "DELETE", path+"?fieldSelector=metadata.name%3Db&includeObject=Foo", asTable)
		require.Equal(t, http.StatusBadRequest, resp.StatusCode)
		require.Contains(t, string(body), "Unable to convert to Table as requested")
	}
	for _, accept := range []string{asYAMLTable, "application/yaml;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"} {
		name := map[bool]string{true: "c", false: "d"}[accept == asYAMLTable]
		resp, body := fetch(t, srv, "DELETE", maps+"/"+name, accept)
		require.Equal(t, http.StatusOK, resp.StatusCode)
		require.Equal(t, "application/yaml", resp.Header.Get("Content-Type"))
		require.Contains(t, string(body), "status: Success\n")
	}
	_, body := fetch(t, srv, "GET", maps, asTable)
	_, rows := decodeTable(t, body)
	require.Empty(t, rows)
}

// Flow schemas are ordered by precedence.
func TestTableOfFlowSchemas(t *testing.T) {
	flow := func(name string, precedence int32) *flowcontrolv1.FlowSchema {
		return &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: flowcontrolv1.FlowSchemaSpec{
			MatchingPrecedence: precedence, PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "exempt"},
		}}
	}
	srv := fakeapi.Start(t, fakeapi.WithoutSystemObjects(), fakeapi.WithObjects(flow("a", 9000), flow("b", 100), flow("c", 100)))
	_, body := fetch(t, srv, "GET", "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", asTable)
	_, rows := decodeTable(t, body)
	require.Equal(t, []any{"b", "c", "a"}, []any{rows[0][0], rows[1][0], rows[2][0]})
}

// Only the newest default StorageClass is marked in a list, and of those that are as new the first.
// A row of a single object or of an event of a watch has no mark.
func TestTableOfStorageClasses(t *testing.T) {
	class := func(name string, minute int, annotation, value string) *storagev1.StorageClass {
		return &storagev1.StorageClass{Provisioner: "p", ObjectMeta: metav1.ObjectMeta{
			Name: name, Annotations: map[string]string{annotation: value},
			CreationTimestamp: metav1.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC),
		}}
	}
	const isDefault, isBetaDefault = "storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"
	srv := fakeapi.Start(t, fakeapi.WithObjects(class("a", 1, isDefault, "true"), class("b", 2, isDefault, "false"),
		class("c", 2, isBetaDefault, "true"), class("d", 2, isDefault, "true"), class("e", 1, isDefault, "true")))
	for path, want := range map[string][]string{
		"":                                {"a", "b", "c (default)", "d", "e"},
		"?fieldSelector=metadata.name!=c": {"a", "b", "d (default)", "e"},
		"?fieldSelector=metadata.name=a":  {"a (default)"},
		"?fieldSelector=metadata.name=b":  {"b"},
		"/c":                              {"c"},
	} {
		_, body := fetch(t, srv, http.MethodGet, "/apis/storage.k8s.io/v1/storageclasses"+path, asTable)
		_, rows := decodeTable(t, body)
		names := make([]string, 0, len(rows))
		for _, cells := range rows {
			names = append(names, cells[0].(string))
		}
		require.Equal(t, want, names, path)
	}
	_, body := fetch(t, srv, http.MethodGet, "/apis/storage.k8s.io/v1/storageclasses?watch=true&timeoutSeconds=1&fieldSelector=metadata.name=c", asTable)
	require.Contains(t, string(body), `"cells":["c","p",`)
}

// Events cannot be lists: the stream ends before the first event.
func TestWatchAsLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("a", "v")))
		start := time.Now()
		resp, body := fetch(t, srv, "GET", "/api/v1/configmaps?watch=true&timeoutSeconds=60",
			"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")
		require.Equal(t, http.StatusOK, resp.StatusCode)
		require.Empty(t, body)
		require.Less(t, time.Since(start), time.Minute)
	})
}
