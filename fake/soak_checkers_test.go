package fakeapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The checkers of the soak that are not of other tests are fed with small stories, of which
// one is true.

func content(metadata, rest string) string {
	return `{"metadata":{"uid":"u1","creationTimestamp":"2000-01-01T00:00:00Z","managedFields":[{"manager":"m"}],` + metadata + `}` + rest + `}`
}

// Each change of an object that its life does not allow is complained of.
func TestLawsBite(t *testing.T) {
	deployment, configMap := soakKinds()[3], soakKinds()[2]
	was := &thing{key: "n/a", rev: 7, content: content(`"generation":1,"annotations":{"a":"1"}`, `,"spec":{"replicas":1},"status":{}`)}
	becomes := func(text string) *thing { return &thing{key: "n/a", rev: 8, content: text} }
	for name, tt := range map[string]struct {
		kind    kind
		was, is *thing
		want    string // "" if it is lawful
	}{
		"created":          {deployment, nil, was, ""},
		"another spec":     {deployment, was, becomes(content(`"generation":2,"annotations":{"a":"1"}`, `,"spec":{"replicas":2},"status":{}`)), ""},
		"a status":         {deployment, was, becomes(content(`"generation":1,"annotations":{"a":"1"}`, `,"spec":{"replicas":1},"status":{"replicas":1}`)), ""},
		"annotated":        {deployment, was, becomes(content(`"generation":2,"annotations":{"a":"2"}`, `,"spec":{"replicas":1},"status":{}`)), ""},
		"deleted":          {deployment, was, nil, ""},
		"spec not counted": {deployment, was, becomes(content(`"generation":1,"annotations":{"a":"1"}`, `,"spec":{"replicas":2},"status":{}`)), "generation 1, not 2"},
		"status counted":   {deployment, was, becomes(content(`"generation":2,"annotations":{"a":"1"}`, `,"spec":{"replicas":1},"status":{"replicas":1}`)), "generation 2, not 1"},
		"with a status":    {deployment, nil, becomes(content(`"generation":1`, `,"spec":{},"status":{"replicas":1}`)), "created with a status"},
		"nothing":          {deployment, was, becomes(was.content), "a change of nothing"},
		"another object":   {deployment, was, becomes(strings.Replace(was.content, "u1", "u2", 1)), "another uid"},
		"younger":          {deployment, was, becomes(strings.Replace(was.content, "2000-01-01", "2000-01-02", 1)), "another creationTimestamp"},
		"nobody's":         {deployment, was, becomes(strings.Replace(was.content, `[{"manager":"m"}]`, "[]", 1)), "without uid, creationTimestamp or managedFields"},
		"no generation":    {configMap, nil, becomes(content(`"generation":1`, "")), "generation 1, not 0"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(unlawful(tt.kind, change{rev: 8, key: "n/a", was: tt.was, is: tt.is}), "\n")
			require.Equal(t, tt.want == "", got == "", got)
			require.Contains(t, got, tt.want)
		})
	}
}

// accounts are what clients did in the namespace n, and what was seen of it.
func accounts() (history []porcupine.Operation, writes []write) {
	seen := func(verb string, rev uint64, uid, serial string) write {
		return write{verb: verb, thing: thing{key: "n/a", rev: rev, content: `{"metadata":{"uid":"` + uid + `","annotations":{"serial":"` + serial + `"}}}`}}
	}
	lost := did(1, 3, forever, question{verb: "merge", set: serial("2")}, tell{})
	return []porcupine.Operation{
			did(0, 1, 2, question{verb: "create", set: serial("1")}, object(201, "u1", 11, "1")),
			lost,
			did(0, 4, 5, question{verb: "delete"}, tell{code: 200, uid: "u1"}),
			did(0, 6, 7, question{verb: "create", dry: true, set: serial("3")}, object(201, "u3", 0, "3")),
			did(0, 8, 9, question{verb: "create", set: serial("4")}, refusal(409, metav1.StatusReasonAlreadyExists)),
		}, []write{
			seen("create", 11, "u1", "1"), seen("update", 12, "u1", "2"), seen("delete", 13, "u1", "2"),
		}
}

// What was told and what was seen must come to the same.
func TestAccountsBite(t *testing.T) {
	history, writes := accounts()
	require.Empty(t, unaccounted("n", history, writes))
	for name, tt := range map[string]struct {
		doctor func(history []porcupine.Operation, writes []write) ([]porcupine.Operation, []write)
		want   string
	}{
		"never happened": {func(h []porcupine.Operation, w []write) ([]porcupine.Operation, []write) { return h, w[1:] }, "told, and never happened"},
		"other content": {func(h []porcupine.Operation, w []write) ([]porcupine.Operation, []write) {
			h[0].Output = object(201, "u1", 11, "x")
			return h, w
		}, "the content was told"},
		"other uid": {func(h []porcupine.Operation, w []write) ([]porcupine.Operation, []write) {
			h[0].Output = object(201, "u9", 11, "1")
			return h, w
		}, "the uid was told"},
		"other verb": {func(h []porcupine.Operation, w []write) ([]porcupine.Operation, []write) {
			w[0].verb = "update"
			return h, w
		}, "the verb was told"},
		"nobody merged": {func(h []porcupine.Operation, w []write) ([]porcupine.Operation, []write) {
			return slices.Delete(h, 1, 2), w
		}, "nobody's doing: update"},
		"nobody deleted": {func(h []porcupine.Operation, w []write) ([]porcupine.Operation, []write) {
			return slices.Delete(h, 2, 3), w
		}, "nobody's doing: delete"},
		"twice": {func(h []porcupine.Operation, w []write) ([]porcupine.Operation, []write) { return h, append(w, w[2]) }, "nobody's doing: delete"},
		"dry run": {func(h []porcupine.Operation, w []write) ([]porcupine.Operation, []write) {
			kept := w[0]
			kept.rev, kept.content = 14, strings.ReplaceAll(kept.content, `"1"`, `"3"`)
			return h, append(w, kept)
		}, "nobody's doing: create"},
	} {
		t.Run(name, func(t *testing.T) {
			h, w := tt.doctor(accounts())
			require.Contains(t, strings.Join(unaccounted("n", h, w), "\n"), tt.want)
		})
	}
}

// Reads that saw what was not there are complained of, and those of a view that went back.
func TestGlancesBite(t *testing.T) {
	pod := kind{name: "Pod", plural: "pods"}
	list := func(rev uint64, call, back int64, seen ...thing) glance {
		return glance{what: "list", kind: pod, seen: seen, rev: rev, newest: 17, call: call, back: back, old: true, same: true}
	}
	get := func(atLeast, newest uint64, call, back int64, seen ...thing) glance {
		g := glance{what: "get", kind: pod, namespace: "n", name: "a", seen: seen, atLeast: atLeast, newest: newest, call: call, back: back, old: true, same: true}
		if len(seen) > 0 {
			g.rev = seen[0].rev
		}
		return g
	}
	first, second, b := aThing("n/a", 8, "x", "0"), aThing("n/a", 11, "x", "1"), aThing("n/b", 9, "y", "0")
	moved := list(10, 5, 6, first, b)
	moved.era = 1
	between := list(10, 5, 6, first, b)
	between.same = false
	for name, tt := range map[string]struct {
		glances []glance
		want    string // "" if it can have been so
	}{
		"forward":              {[]glance{list(10, 1, 2, first, b), list(11, 3, 4, second, b)}, ""},
		"at once":              {[]glance{list(11, 1, 4, second, b), list(10, 2, 3, first, b)}, ""},
		"put back":             {[]glance{list(11, 1, 2, second, b), moved}, ""},
		"put back meanwhile":   {[]glance{list(11, 1, 2, second, b), between}, ""},
		"back":                 {[]glance{list(11, 1, 2, second, b), list(10, 3, 4, first, b)}, "stale read: 10 is not between 11 and 17"},
		"of the future":        {[]glance{list(18, 1, 2)}, "stale read: 18 is not between 0 and 17"},
		"too few":              {[]glance{list(11, 1, 2, second)}, "wrong list"},
		"too new":              {[]glance{list(10, 1, 2, second, b)}, "wrong list"},
		"an object":            {[]glance{get(0, 10, 1, 2, first)}, ""},
		"an object that stays": {[]glance{get(12, 17, 1, 2, second)}, ""},
		"an old object":        {[]glance{get(11, 17, 1, 2, first)}, "wrong read"},
		"an early object":      {[]glance{get(0, 10, 1, 2, second)}, "wrong read"},
		"no object":            {[]glance{get(0, 17, 1, 2)}, "wrong read"},
		"an object, then back": {[]glance{get(0, 17, 1, 2, second), get(0, 17, 3, 4, first)}, "wrong read"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(belied(map[string]*chronicle{"Pod": smallChronicle(t)}, tt.glances), "\n")
			require.Equal(t, tt.want == "", got == "", got)
			require.Contains(t, got, tt.want)
		})
	}
}
