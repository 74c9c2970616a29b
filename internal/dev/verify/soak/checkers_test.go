package soak

import (
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/internal/dev/verify/harness"
	"example.com/fakeapi/internal/dev/verify/linearizability"
	"example.com/fakeapi/internal/dev/verify/watchguarantees"
)

// The tests of this file check the functions that compare events, responses and reads, with small
// histories of which one is valid.

func newObject(key string, rev uint64, app, content string) harness.Object {
	return harness.Object{Key: key, Revision: rev, Labels: map[string]string{"app": app}, Content: app + " " + content}
}

// sampleWrites start at revision 10 with n/a and n/b, and end at 17.
func sampleWrites() (base []harness.Object, writes []watchguarantees.Write) {
	base = []harness.Object{newObject("n/a", 8, "x", "0"), newObject("n/b", 9, "y", "0")}
	return base, []watchguarantees.Write{
		{Object: newObject("n/a", 11, "x", "1"), Kind: "Pod", Verb: "update"},
		{Object: newObject("n/b", 12, "x", "1"), Kind: "Pod", Verb: "update"}, // starts to match app=x
		{Object: newObject("n/z", 13, "x", "0"), Kind: "Secret", Verb: "create"},
		{Object: newObject("n/a", 14, "y", "2"), Kind: "Pod", Verb: "update"}, // stops to match
		{Object: newObject("n/c", 15, "y", "0"), Kind: "Pod", Verb: "create"}, // never matches
		{Object: newObject("n/b", 16, "x", "1"), Kind: "Pod", Verb: "delete"},
		{Object: newObject("n/d", 17, "x", "0"), Kind: "Pod", Verb: "create"},
	}
}

func sampleHistory(t *testing.T) *watchguarantees.History {
	base, writes := sampleWrites()
	c, violations := watchguarantees.NewHistory("Pod", base, 10, 17, writes)
	require.Empty(t, violations)
	return c
}

// newOperation returns an operation on the key "a".
func newOperation(client int, call, ret int64, req linearizability.Request, resp linearizability.Response) porcupine.Operation {
	req.Key = "a"
	return porcupine.Operation{ClientId: client, Call: call, Return: ret, Input: req, Output: resp}
}

func serialAnnotation(s string) map[string]string { return map[string]string{"serial": s} }

// objectResponse returns a response with an object.
func objectResponse(code int, uid string, rv uint64, s string) linearizability.Response {
	return linearizability.Response{Code: code, HasObject: true, UID: uid, ResourceVersion: rv, Content: linearizability.EncodeContent(serialAnnotation(s))}
}

func errorResponse(code int, reason metav1.StatusReason) linearizability.Response {
	return linearizability.Response{Code: code, Reason: reason}
}

func content(metadata, rest string) string {
	return `{"metadata":{"uid":"u1","creationTimestamp":"2000-01-01T00:00:00Z","managedFields":[{"manager":"m"}],` + metadata + `}` + rest + `}`
}

// TestCheckInvariants checks one invalid change of each kind.
func TestCheckInvariants(t *testing.T) {
	deployment, configMap := kinds()[3], kinds()[2]
	was := &harness.Object{Key: "n/a", Revision: 7, Content: content(`"generation":1,"annotations":{"a":"1"}`, `,"spec":{"replicas":1},"status":{}`)}
	becomes := func(text string) *harness.Object { return &harness.Object{Key: "n/a", Revision: 8, Content: text} }
	for name, tt := range map[string]struct {
		kind    harness.Kind
		was, is *harness.Object
		want    string // "" if the change is valid
	}{
		"created":               {deployment, nil, was, ""},
		"spec changed":          {deployment, was, becomes(content(`"generation":2,"annotations":{"a":"1"}`, `,"spec":{"replicas":2},"status":{}`)), ""},
		"status changed":        {deployment, was, becomes(content(`"generation":1,"annotations":{"a":"1"}`, `,"spec":{"replicas":1},"status":{"replicas":1}`)), ""},
		"annotations changed":   {deployment, was, becomes(content(`"generation":2,"annotations":{"a":"2"}`, `,"spec":{"replicas":1},"status":{}`)), ""},
		"deleted":               {deployment, was, nil, ""},
		"spec not counted":      {deployment, was, becomes(content(`"generation":1,"annotations":{"a":"1"}`, `,"spec":{"replicas":2},"status":{}`)), "generation 1, not 2"},
		"status counted":        {deployment, was, becomes(content(`"generation":2,"annotations":{"a":"1"}`, `,"spec":{"replicas":1},"status":{"replicas":1}`)), "generation 2, not 1"},
		"with a status":         {deployment, nil, becomes(content(`"generation":1`, `,"spec":{},"status":{"replicas":1}`)), "created with a status"},
		"unchanged":             {deployment, was, becomes(was.Content), "nothing changed"},
		"uid changed":           {deployment, was, becomes(strings.Replace(was.Content, "u1", "u2", 1)), "another uid"},
		"creation time changed": {deployment, was, becomes(strings.Replace(was.Content, "2000-01-01", "2000-01-02", 1)), "another creationTimestamp"},
		"no manager":            {deployment, was, becomes(strings.Replace(was.Content, `[{"manager":"m"}]`, "[]", 1)), "without uid, creationTimestamp or managedFields"},
		"no generation":         {configMap, nil, becomes(content(`"generation":1`, "")), "generation 1, not 0"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(checkInvariants(tt.kind, watchguarantees.Change{Revision: 8, Key: "n/a", Old: tt.was, New: tt.is}), "\n")
			require.Equal(t, tt.want == "", got == "", got)
			require.Contains(t, got, tt.want)
		})
	}
}

// sampleOperations returns operations of clients in the namespace n, and the writes that they
// caused.
func sampleOperations() (history []porcupine.Operation, writes []watchguarantees.Write) {
	seen := func(verb string, rev uint64, uid, serial string) watchguarantees.Write {
		return watchguarantees.Write{Verb: verb, Object: harness.Object{Key: "n/a", Revision: rev, Content: `{"metadata":{"uid":"` + uid + `","annotations":{"serial":"` + serial + `"}}}`}}
	}
	lost := newOperation(1, 3, linearizability.Pending, linearizability.Request{Verb: "merge", Set: serialAnnotation("2")}, linearizability.Response{})
	return []porcupine.Operation{
			newOperation(0, 1, 2, linearizability.Request{Verb: "create", Set: serialAnnotation("1")}, objectResponse(201, "u1", 11, "1")),
			lost,
			newOperation(0, 4, 5, linearizability.Request{Verb: "delete"}, linearizability.Response{Code: 200, UID: "u1"}),
			newOperation(0, 6, 7, linearizability.Request{Verb: "create", DryRun: true, Set: serialAnnotation("3")}, objectResponse(201, "u3", 0, "3")),
			newOperation(0, 8, 9, linearizability.Request{Verb: "create", Set: serialAnnotation("4")}, errorResponse(409, metav1.StatusReasonAlreadyExists)),
		}, []watchguarantees.Write{
			seen("create", 11, "u1", "1"), seen("update", 12, "u1", "2"), seen("delete", 13, "u1", "2"),
		}
}

// TestCheckWrites changes one operation or one write.
func TestCheckWrites(t *testing.T) {
	history, writes := sampleOperations()
	require.Empty(t, checkWrites("n", history, writes))
	for name, tt := range map[string]struct {
		modify func(history []porcupine.Operation, writes []watchguarantees.Write) ([]porcupine.Operation, []watchguarantees.Write)
		want   string
	}{
		"never happened": {func(h []porcupine.Operation, w []watchguarantees.Write) ([]porcupine.Operation, []watchguarantees.Write) {
			return h, w[1:]
		}, "never happened"},
		"other content": {func(h []porcupine.Operation, w []watchguarantees.Write) ([]porcupine.Operation, []watchguarantees.Write) {
			h[0].Output = objectResponse(201, "u1", 11, "x")
			return h, w
		}, "the content differs"},
		"other uid": {func(h []porcupine.Operation, w []watchguarantees.Write) ([]porcupine.Operation, []watchguarantees.Write) {
			h[0].Output = objectResponse(201, "u9", 11, "1")
			return h, w
		}, "the uid differs"},
		"other verb": {func(h []porcupine.Operation, w []watchguarantees.Write) ([]porcupine.Operation, []watchguarantees.Write) {
			w[0].Verb = "update"
			return h, w
		}, "the verb differs"},
		"merge missing": {func(h []porcupine.Operation, w []watchguarantees.Write) ([]porcupine.Operation, []watchguarantees.Write) {
			return slices.Delete(h, 1, 2), w
		}, "unexplained write: update"},
		"delete missing": {func(h []porcupine.Operation, w []watchguarantees.Write) ([]porcupine.Operation, []watchguarantees.Write) {
			return slices.Delete(h, 2, 3), w
		}, "unexplained write: delete"},
		"deleted twice": {func(h []porcupine.Operation, w []watchguarantees.Write) ([]porcupine.Operation, []watchguarantees.Write) {
			return h, append(w, w[2])
		}, "unexplained write: delete"},
		"dry run": {func(h []porcupine.Operation, w []watchguarantees.Write) ([]porcupine.Operation, []watchguarantees.Write) {
			kept := w[0]
			kept.Revision, kept.Content = 14, strings.ReplaceAll(kept.Content, `"1"`, `"3"`)
			return h, append(w, kept)
		}, "unexplained write: create"},
	} {
		t.Run(name, func(t *testing.T) {
			h, w := tt.modify(sampleOperations())
			require.Contains(t, strings.Join(checkWrites("n", h, w), "\n"), tt.want)
		})
	}
}

// TestCheckReads checks reads of wrong states, and of a view that went back.
func TestCheckReads(t *testing.T) {
	pod := harness.Kind{Name: "Pod", Plural: "pods"}
	list := func(rev uint64, call, back int64, seen ...harness.Object) read {
		return read{description: "list", kind: pod, objects: seen, revision: rev, maxRevision: 17, call: call, returned: back, mayLag: true, sameView: true}
	}
	get := func(atLeast, newest uint64, call, back int64, seen ...harness.Object) read {
		g := read{description: "get", kind: pod, namespace: "n", name: "a", objects: seen, minRevision: atLeast, maxRevision: newest, call: call, returned: back, mayLag: true, sameView: true}
		if len(seen) > 0 {
			g.revision = seen[0].Revision
		}
		return g
	}
	first, second, b := newObject("n/a", 8, "x", "0"), newObject("n/a", 11, "x", "1"), newObject("n/b", 9, "y", "0")
	moved := list(10, 5, 6, first, b)
	moved.viewResets = 1
	between := list(10, 5, 6, first, b)
	between.sameView = false
	for name, tt := range map[string]struct {
		reads []read
		want  string // "" if the reads are valid
	}{
		"forward":                         {[]read{list(10, 1, 2, first, b), list(11, 3, 4, second, b)}, ""},
		"concurrent":                      {[]read{list(11, 1, 4, second, b), list(10, 2, 3, first, b)}, ""},
		"view moved back":                 {[]read{list(11, 1, 2, second, b), moved}, ""},
		"view moved back during the read": {[]read{list(11, 1, 2, second, b), between}, ""},
		"back":                            {[]read{list(11, 1, 2, second, b), list(10, 3, 4, first, b)}, "stale read: 10 is not between 11 and 17"},
		"later than the store":            {[]read{list(18, 1, 2)}, "stale read: 18 is not between 0 and 17"},
		"too few":                         {[]read{list(11, 1, 2, second)}, "wrong list"},
		"too new":                         {[]read{list(10, 1, 2, second, b)}, "wrong list"},
		"an object":                       {[]read{get(0, 10, 1, 2, first)}, ""},
		"an object that stays":            {[]read{get(12, 17, 1, 2, second)}, ""},
		"an old object":                   {[]read{get(11, 17, 1, 2, first)}, "wrong read"},
		"an early object":                 {[]read{get(0, 10, 1, 2, second)}, "wrong read"},
		"no object":                       {[]read{get(0, 17, 1, 2)}, "wrong read"},
		"an object, then back":            {[]read{get(0, 17, 1, 2, second), get(0, 17, 3, 4, first)}, "wrong read"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(checkReads(map[string]*watchguarantees.History{"Pod": sampleHistory(t)}, tt.reads), "\n")
			require.Equal(t, tt.want == "", got == "", got)
			require.Contains(t, got, tt.want)
		})
	}
}
