package kubectl_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

// pod returns a pod that is bound to a node.
func pod(namespace, name, app string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{
			NodeName:   "node-1",
			Containers: []corev1.Container{{Name: "main", Image: app + ":1"}},
		},
		Status: corev1.PodStatus{Phase: phase, PodIP: "10.0.0.7"},
	}
}

// withPods is an option that loads three pods in two namespaces.
func withPods() fakeapi.Option {
	return fakeapi.WithObjects(
		pod("default", "web-1", "web", corev1.PodRunning),
		pod("default", "web-2", "web", corev1.PodPending),
		pod("prod", "db-1", "db", corev1.PodRunning),
	)
}

func TestGetSelects(t *testing.T) {
	u := newUser(t, withPods(), fakeapi.WithoutSystemObjects())
	for name, tt := range map[string]struct {
		args []string
		want []string
	}{
		"all of the namespace": {[]string{"pods"}, []string{"web-1", "web-2"}},
		"short name":           {[]string{"po"}, []string{"web-1", "web-2"}},
		"singular":             {[]string{"pod"}, []string{"web-1", "web-2"}},
		"with version":         {[]string{"pods.v1."}, []string{"web-1", "web-2"}},
		"category":             {[]string{"all"}, []string{"web-1", "web-2"}},
		"namespace":            {[]string{"pods", "-n", "prod"}, []string{"db-1"}},
		"everywhere":           {[]string{"pods", "-A"}, []string{"web-1", "web-2", "db-1"}},
		"label":                {[]string{"pods", "-A", "-l", "app=db"}, []string{"db-1"}},
		"label expression":     {[]string{"pods", "-A", "-l", "app in (web,db),app!=db"}, []string{"web-1", "web-2"}},
		"field":                {[]string{"pods", "-A", "--field-selector", "status.phase=Running"}, []string{"web-1", "db-1"}},
		"field not":            {[]string{"pods", "-A", "--field-selector", "status.phase!=Running"}, []string{"web-2"}},
		"name by field":        {[]string{"pods", "--field-selector", "metadata.name=web-2"}, []string{"web-2"}},
		"node and label":       {[]string{"pods", "-A", "--field-selector", "spec.nodeName=node-1", "-l", "app=web"}, []string{"web-1", "web-2"}},
		"names":                {[]string{"pods", "web-2", "web-1"}, []string{"web-2", "web-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			out := u.do(append([]string{"get", "-o", "name"}, tt.args...)...)
			require.Equal(t, "pod/"+strings.Join(tt.want, "\npod/")+"\n", out)
		})
	}
}

func TestGetTables(t *testing.T) {
	u := newUser(t, withPods())
	require.Equal(t, [][]string{{"NAME"}, {"web-1"}, {"web-2"}}, columns(u.do("get", "pods"), 1))
	require.Equal(t, [][]string{{"NAME"}, {"web-1"}, {"web-2"}}, columns(u.do("get", "pods", "-o", "wide"), 1))
	require.Equal(t, [][]string{{"NAMESPACE", "NAME"}, {"default", "web-1"}, {"default", "web-2"}, {"prod", "db-1"}},
		columns(u.do("get", "pods", "-A"), 2))
	require.Equal(t, [][]string{{"NAME", "IMAGE"}, {"web-2", "web:1"}, {"web-1", "web:1"}},
		columns(u.do("get", "pods", "web-2", "web-1", "-o", "custom-columns=NAME:.metadata.name,IMAGE:.spec.containers[*].image"), 2))
	require.Equal(t, [][]string{{"pod/web-1", "web"}, {"pod/web-2", "web"}},
		ends(u.do("get", "pods", "-L", "app", "--no-headers", "--show-kind")))

	require.Equal(t, result{err: "No resources found in default namespace.\n"}, u.try("get", "secrets"))
	require.Equal(t, result{err: "No resources found\n"}, u.try("get", "secrets", "-A"))
}

// ends returns the first and the last word of each line.
func ends(text string) [][]string {
	var rows [][]string
	for _, words := range columns(text, math.MaxInt) {
		rows = append(rows, []string{words[0], words[len(words)-1]})
	}
	return rows
}

func TestGetJSONAndYAML(t *testing.T) {
	u := newUser(t, withPods())
	var fromJSON, fromYAML corev1.Pod
	require.NoError(t, json.Unmarshal([]byte(u.do("get", "pod", "web-1", "-o", "json")), &fromJSON))
	require.NoError(t, yaml.UnmarshalStrict([]byte(u.do("get", "pod", "web-1", "-o", "yaml")), &fromYAML))
	require.Equal(t, fromJSON, fromYAML)
	require.Equal(t, metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, fromJSON.TypeMeta)
	require.Equal(t, "node-1", fromJSON.Spec.NodeName)
	require.NotEmpty(t, fromJSON.UID)

	var list struct {
		metav1.TypeMeta
		Items []corev1.Pod
	}
	require.NoError(t, json.Unmarshal([]byte(u.do("get", "pods", "-o", "json")), &list))
	require.Equal(t, metav1.TypeMeta{APIVersion: "v1", Kind: "List"}, list.TypeMeta)
	require.Len(t, list.Items, 2)
	require.Equal(t, fromJSON, list.Items[0])

	require.Equal(t, "web-1 web-2 ", u.do("get", "pods", "-o", "jsonpath={range .items[*]}{.metadata.name} {end}"))
	require.Contains(t, u.do("get", "--raw", "/api/v1/namespaces/default/pods/web-1"), `"name":"web-1"`)
}

func TestGetInChunks(t *testing.T) {
	objects := []runtime.Object{}
	want := ""
	for i := range 7 {
		name := fmt.Sprintf("c%d", i)
		objects = append(objects, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}})
		want += "configmap/" + name + "\n"
	}
	u := newUser(t, fakeapi.WithObjects(objects...))
	r := u.try("get", "configmaps", "--chunk-size=3", "-o", "name", "-v=6")
	require.Equal(t, want, r.out)
	require.Equal(t, 3, strings.Count(r.err, "limit=3"), "requests: %s", r.err)
	require.Equal(t, 2, strings.Count(r.err, "continue="), "requests: %s", r.err)
}

func TestGetMissingAndPresent(t *testing.T) {
	u := newUser(t, withPods())
	require.Equal(t, result{out: "pod/web-1\n", err: "Error from server (NotFound): pods \"nope\" not found\n", code: 1},
		u.try("get", "pods", "web-1", "nope", "-o", "name"))
	require.Equal(t, "pod/web-1\n", u.do("get", "pods", "web-1", "nope", "-o", "name", "--ignore-not-found"))
}

func TestGetSorts(t *testing.T) {
	u := newUser(t, withPods())
	require.Equal(t, [][]string{{"web-2"}, {"web-1"}},
		columns(u.do("get", "pods", "--sort-by={.status.phase}", "--no-headers"), 1))
}
