package perturb

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/scenario"
)

// testObject returns an object of JSON.
func testObject(t *testing.T, key objectKey, text string) *object {
	o := &object{key: key}
	require.NoError(t, json.Unmarshal([]byte(text), &o.fields))
	return o
}

// logOf returns a log with the state of some objects.
func logOf(n *normalizer, objects ...*object) *changeLog {
	l := newChangeLog(n, nil)
	l.learning = true
	for i, o := range objects {
		o.uid, o.revision = o.text("uid"), uint64(i+1)
		l.state.objects[o.key] = o
		l.uids[o.uid], l.alive[o.uid] = o.key, true
	}
	return l
}

// What differs between runs by chance is removed.
func TestNormalize(t *testing.T) {
	n, err := newNormalizer([]string{"configmaps/*:data.attempts"})
	require.NoError(t, err)
	pod := testObject(t, objectKey{"pods", "default", "web-x7k2p"},
		`{"metadata":{"name":"web-x7k2p","generateName":"web-","uid":"u1","resourceVersion":"7","creationTimestamp":"2000-01-01T00:00:00Z"}}`)
	report := testObject(t, objectKey{"configmaps", "default", "a"}, `{"metadata":{"name":"a","uid":"u2","generation":3,"finalizers":["b","a"],
		"ownerReferences":[{"kind":"Pod","name":"web-x7k2p","uid":"u1"},{"uid":"u3"}]},
		"data":{"pods":"web-x7k2p is ready","attempts":"5","at":"2000-01-01T00:00:07Z"},"status":{"observedGeneration":3,"other":{"observedGeneration":2}}}`)
	l := logOf(n, pod, report)
	l.uids["u3"] = objectKey{"pods", "default", "old"}
	require.Equal(t, normalState{
		{"pods", "default", "web-*"}: {`{"metadata":{"generateName":"web-","name":"web-*"}}`},
		{"configmaps", "default", "a"}: {`{"data":{"at":"\u003ctime\u003e","pods":"web-* is ready"},"metadata":{"finalizers":["a","b"],"name":"a",` +
			`"ownerReferences":[{"kind":"Pod","name":"web-*","uid":"\u003cuid of pods default/web-*\u003e"},{"uid":"\u003cuid of a deleted object\u003e"}]},` +
			`"status":{"observedGeneration":"\u003ccurrent\u003e","other":{"observedGeneration":"\u003cbehind\u003e"}}}`},
	}, l.normalized())
}

// A generated name that is a part of another one is replaced after it.
func TestNormalizeNestedNames(t *testing.T) {
	n, err := newNormalizer(nil)
	require.NoError(t, err)
	for range 20 { // maps have a random order
		l := logOf(n,
			testObject(t, objectKey{"jobs.batch", "default", "web-1"}, `{"metadata":{"name":"web-1","generateName":"web-"}}`),
			testObject(t, objectKey{"pods", "default", "web-1-x7k2p"}, `{"metadata":{"name":"web-1-x7k2p","generateName":"web-1-"}}`),
			testObject(t, objectKey{"configmaps", "default", "a"}, `{"metadata":{"name":"a"},"data":{"pod":"web-1-x7k2p","job":"web-1"}}`))
		require.Equal(t, []string{`{"data":{"job":"web-*","pod":"web-*-*"},"metadata":{"name":"a"}}`}, l.normalized()[objectKey{"configmaps", "default", "a"}])
	}
}

// Differences between two runs are learned: names, fields and the order of lists.
func TestLearn(t *testing.T) {
	n, err := newNormalizer(nil)
	require.NoError(t, err)
	a := logOf(n,
		testObject(t, objectKey{"jobs.batch", "default", "report-0101"}, `{"metadata":{"name":"report-0101","uid":"u1"},"spec":{"b":1}}`),
		testObject(t, objectKey{"configmaps", "default", "c"}, `{"data":{"seed":"1","k":"v"},"list":["x","y"]}`))
	b := logOf(n,
		testObject(t, objectKey{"jobs.batch", "default", "report-0217"}, `{"metadata":{"name":"report-0217","uid":"u9"},"spec":{"b":1}}`),
		testObject(t, objectKey{"configmaps", "default", "c"}, `{"data":{"seed":"2","k":"v"},"list":["y","x"]}`))
	require.NoError(t, n.learn(a, b))
	require.Contains(t, a.normalized(), objectKey{"jobs.batch", "default", "report-*"})
	require.Equal(t, map[string]bool{"configmaps:data.seed": true}, n.fields)
	require.Equal(t, map[string]bool{"configmaps:list": true}, n.unordered)

	c := logOf(n, testObject(t, objectKey{"configmaps", "default", "c"}, `{"data":{"seed":"2","k":"v"},"list":["y","x"]}`))
	require.ErrorContains(t, n.learn(a, c), "jobs.batch default/report-*: one in one run, none in another run")
}

// A file has a name for each content, and steps with the perturbations' rules can be printed.
func TestPrintSteps(t *testing.T) {
	manifest := func(v string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: " + v + "}\n"
	}
	text, err := printSteps([]scenario.Step{
		scenario.Apply("a.yaml", manifest("v")), scenario.Apply("a.yaml", manifest("w")), scenario.AtHit("x", scenario.Apply("a.yaml", manifest("v"))),
		scenario.Eventually(1e9, scenario.Apply("a.yaml", manifest("w"))),
	})
	require.NoError(t, err)
	require.Equal(t, "apply a.yaml\napply a-2.yaml\nat hit x apply a.yaml\neventually 1s apply a-2.yaml\n-- a.yaml --\n"+manifest("v")+"-- a-2.yaml --\n"+manifest("w"), text)
	_, err = printSteps([]scenario.Step{recordStep{}})
	require.Error(t, err)
}

// Config.Ignore selects objects and fields by patterns in which only "*" has a meaning.
func TestIgnorePatterns(t *testing.T) {
	n, err := newNormalizer([]string{
		"configmaps/report-*", "configmaps/a:data.t*", "deployments.apps/*:spec.containers[0].image", "deployments.apps/*:status.list[].at",
		"*/a:metadata.annotations.b.c/d*", "secrets/a?[b]:data.k",
	})
	require.NoError(t, err)
	for resource, names := range map[string]map[string]bool{
		"configmaps": {"report-": true, "report-1": true, "report": false, "my-report-1": false, "a": false},
		"secrets":    {"report-1": false, "a": false},
	} {
		for name, want := range names {
			require.Equal(t, want, n.ignores(objectKey{resource, "default", name}), "%s/%s", resource, name)
		}
	}
	for _, test := range []struct {
		resource, name, field string
		want                  bool
	}{
		{"configmaps", "a", "data.time", true},
		{"configmaps", "a", "data.a", false},
		{"configmaps", "b", "data.time", false},
		{"deployments.apps", "b", "spec.containers[].image", true},
		{"deployments.apps", "b", "spec.containers[].name", false},
		{"deployments.apps", "b", "status.list[].at", true},
		{"deployments", "b", "status.list[].at", false},
		{"pods", "a", "metadata.annotations.b.c/d/e", true},
		{"pods", "a", "metadata.annotations.b.c", false},
		{"secrets", "a?[b]", "data.k", true},
		{"secrets", "axb", "data.k", false},
	} {
		require.Equal(t, test.want, n.ignoresField(objectKey{test.resource, "default", test.name}, test.field), "%+v", test)
	}
	for _, invalid := range []string{"", "configmaps", "configmaps/", "/a", "configmaps/a:", ":data"} {
		_, err := newNormalizer([]string{invalid})
		require.ErrorContains(t, err, "expected RESOURCE/NAME or RESOURCE/NAME:PATH", invalid)
	}
}

// Values are expected at their paths.
func TestFieldOf(t *testing.T) {
	for text, want := range map[string]string{
		`{"spec":{"list":[{"name":"v"}]}}`:                          `spec.list[0].name=v`,
		`{"metadata":{"labels":{"a.b/c":"v"}}}`:                     `metadata.labels["a.b/c"]=v`,
		`{"metadata":{"annotations":{"plain":"v"}}}`:                "metadata.annotations.plain=v",
		`{"data":{"x.y":"v"}}`:                                      `data["x.y"]=v`,
		`{"spec":{"template":{"spec":{"replicas":"v"}}}}`:           "spec.template.spec.replicas=v",
		`{"spec":{"template":{"metadata":{"labels":{"a.b":"v"}}}}}`: `spec.template.metadata.labels["a.b"]=v`,
		`{"spec":{"matrix":[[],["x","y","v"]]}}`:                    "spec.matrix[1][2]=v",
		`{"metadata":{"annotations":{"e.com/[x":"v"}}}`:             `metadata.annotations["e.com/[x"]=v`,
		`{"items":[1,{"[0]":"v"}]}`:                                 `items[1]["[0]"]=v`,
	} {
		differences := diffTexts(text, strings.Replace(text, `"v"`, `"w"`, 1))
		require.Len(t, differences, 1, text)
		f, ok := fieldOf(differences[0].path, differences[0].want)
		require.True(t, ok)
		step := scenario.Expect(scenario.Ref{Kind: "configmap", Name: "a"}, f)
		require.Equal(t, "expect configmap/a "+want, step.String())
		_, err := scenario.Parse(step.String())
		require.NoError(t, err)
	}
	for value, want := range map[any]string{"": "", true: "true", 3.0: "3"} {
		f, ok := fieldOf(fieldPath{"a"}, value)
		require.True(t, ok)
		require.Equal(t, scenario.Field{Path: "a", Value: want}, f)
	}
	for _, v := range []any{nil, "<time>", "web-*"} {
		_, ok := fieldOf(fieldPath{"a"}, v)
		require.False(t, ok)
	}
}

// Differences have the paths that messages show and Config.Ignore accepts.
func TestDiffTexts(t *testing.T) {
	for _, test := range []struct{ want, saw, text string }{
		{`{"a":1}`, `{"a":1}`, ""},
		{`{"a":1,"b":{"c.d":"x"}}`, `{"a":2,"b":{"c.d":"y"}}`, "a 1 2; b.c.d x y"},
		{`{"a":1}`, `{"b":1}`, "a 1 <nil>; b <nil> 1"},
		{`{"a":[1,2]}`, `{"a":[2,1]}`, "a [1 2] [2 1] reordered"},
		{`{"a":[1,2]}`, `{"a":[1,3]}`, "a[1] 2 3"},
		{`{"a":[1]}`, `{"a":[1,2]}`, "a [1] [1 2]"},
		{`{"a":[1]}`, `{"a":{"b":1}}`, "a [1] map[b:1]"},
		{`{"a":{"b":1}}`, `{"a":[1]}`, "a map[b:1] [1]"},
		{`{"a":[{"b":[1]}]}`, `{"a":[{"b":[2]}]}`, "a[0].b[0] 1 2"},
	} {
		var all []string
		for _, d := range diffTexts(test.want, test.saw) {
			text := fmt.Sprintf("%s %v %v", d.path, d.want, d.saw)
			if d.reordered {
				text += " reordered"
			}
			all = append(all, text)
		}
		require.Equal(t, test.text, strings.Join(all, "; "), "%s %s", test.want, test.saw)
	}
	require.Equal(t, "a[].b[].c1[]", genericPath("a[0].b[12].c1[]"))
}
