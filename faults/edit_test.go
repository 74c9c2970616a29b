package faults

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/internal/frames"
)

// TestEditJSON tests edits of JSON. All other bytes must stay the same.
func TestEditJSON(t *testing.T) {
	const doc = `{ "a" : 1.0,"m":{"x~/y":"é"},"items":[ {"n":1} , {"n":2},{"n":3}],"e":{}, "z":null}` + "\n"
	for _, c := range []struct{ do, want string }{
		{`set(/a, b)`, `{ "a" : "b","m":{"x~/y":"é"},"items":[ {"n":1} , {"n":2},{"n":3}],"e":{}, "z":null}`},
		{`set("/m/x~0~1y", json(null))`, `{ "a" : 1.0,"m":{"x~/y":null},"items":[ {"n":1} , {"n":2},{"n":3}],"e":{}, "z":null}`},
		{`set(/m/q/r, 2)`, `{ "a" : 1.0,"m":{"x~/y":"é","q":{"r":"2"}},"items":[ {"n":1} , {"n":2},{"n":3}],"e":{}, "z":null}`},
		{`set(/e/f, json("[]"))`, `{ "a" : 1.0,"m":{"x~/y":"é"},"items":[ {"n":1} , {"n":2},{"n":3}],"e":{"f":[]}, "z":null}`},
		{`set(/items/1/n, json(0))`, `{ "a" : 1.0,"m":{"x~/y":"é"},"items":[ {"n":1} , {"n":0},{"n":3}],"e":{}, "z":null}`},
		{`remove(/a)`, `{ "m":{"x~/y":"é"},"items":[ {"n":1} , {"n":2},{"n":3}],"e":{}, "z":null}`},
		{`remove(/z)`, `{ "a" : 1.0,"m":{"x~/y":"é"},"items":[ {"n":1} , {"n":2},{"n":3}],"e":{}}`},
		{`remove("/m/x~0~1y")`, `{ "a" : 1.0,"m":{},"items":[ {"n":1} , {"n":2},{"n":3}],"e":{}, "z":null}`},
		{`remove(/items/0)`, `{ "a" : 1.0,"m":{"x~/y":"é"},"items":[ {"n":2},{"n":3}],"e":{}, "z":null}`},
		{`remove(/items/2)`, `{ "a" : 1.0,"m":{"x~/y":"é"},"items":[ {"n":1} , {"n":2}],"e":{}, "z":null}`},
		{`remove(/items/3)`, doc},
		{`remove(/none/at/all)`, doc},
		{`remove(/a/b)`, doc},
	} {
		got, err := applyEdit(t, c.do, doc)
		require.NoError(t, err, c.do)
		if c.want != doc {
			c.want += "\n"
		}
		require.Equal(t, c.want, got, c.do)
	}
	for do, why := range map[string]string{
		`set(/a/b, c)`:      `the value at "/a" is neither an object nor a list`,
		`set(/items/3, c)`:  `a list of 3 has no item "3"`,
		`set(/items/x, c)`:  `a list of 3 has no item "x"`,
		`set(/items/-1, c)`: `a list of 3 has no item "-1"`,
	} {
		_, err := applyEdit(t, do, doc)
		require.EqualError(t, err, why)
	}
	for _, broken := range []string{"", "page not found\n", `{"a":`, `{"a" 1}`, `{"b":1`} {
		_, err := applyEdit(t, `set(/a/b, c)`, broken)
		require.ErrorContains(t, err, "not valid JSON", broken)
	}
}

func parseEdit(t *testing.T, do string) edit {
	r, err := Parse("when always do " + do)
	require.NoError(t, err)
	return r.Do[0].(edit)
}

func applyEdit(t *testing.T, do, doc string) (string, error) {
	e := parseEdit(t, do)
	got, err := editJSON([]byte(doc), e.path, e.jsonValue())
	return string(got), err
}

// encodeProtobuf encodes an object with its envelope. rest has further encoded fields.
func encodeProtobuf(kind string, meta protobufMessage, rest ...byte) []byte {
	raw := append(appendField(nil, metadataField, mustMarshal(meta)), rest...)
	return append([]byte(frames.ProtobufPrefix), mustMarshal(&runtime.Unknown{
		TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: kind}, Raw: raw,
	})...)
}

// TestEditProtobuf tests edits of protobuf. Unknown fields must stay the same.
func TestEditProtobuf(t *testing.T) {
	spec := []byte{0x12, 2, 8, 1, 0x1a, 0, 0x20, 7, 0x2d, 1, 2, 3, 4, 0x31, 1, 2, 3, 4, 5, 6, 7, 8} // fields 2 to 6
	pod := func(m metav1.ObjectMeta) string { return string(encodeProtobuf("Pod", &m, spec...)) }
	before := metav1.ObjectMeta{Name: "a", ResourceVersion: "7", Annotations: map[string]string{"k8s.io/initial-events-end": "true"}}
	two := []byte{0x12, 1, 65, 0x12, 1, 66}
	count := int64(3)
	less := int64(-1)
	list := func(m metav1.ListMeta, items ...byte) string { return string(encodeProtobuf("PodList", &m, items...)) }
	full := metav1.ListMeta{ResourceVersion: "9", Continue: "token", RemainingItemCount: &count}

	for _, c := range []struct{ do, from, want string }{
		{`set(/metadata/resourceVersion, "")`, pod(before), pod(metav1.ObjectMeta{Name: "a", Annotations: before.Annotations})},
		{`set(/metadata/resourceVersion, x1)`, pod(before), pod(metav1.ObjectMeta{Name: "a", ResourceVersion: "x1", Annotations: before.Annotations})},
		{`remove("/metadata/annotations/k8s.io~1initial-events-end")`, pod(before), pod(metav1.ObjectMeta{Name: "a", ResourceVersion: "7"})},
		{`remove(/metadata)`, pod(before), pod(metav1.ObjectMeta{})},
		{`set(/kind, Node)`, pod(before), string(encodeProtobuf("Node", &before, spec...))},
		{`remove(/metadata/continue)`, list(full, two...), list(metav1.ListMeta{ResourceVersion: "9", RemainingItemCount: &count}, two...)},
		{`set(/metadata/remainingItemCount, json(-1))`, list(full), list(metav1.ListMeta{ResourceVersion: "9", Continue: "token", RemainingItemCount: &less})},
		{`set(/items, json("[]"))`, list(full, two...), list(full)},
		{`remove(/items/0)`, list(full, two...), list(full, two[3:]...)},
		{`remove(/items/7)`, list(full, two...), list(full, two...)},
		{`remove(/items/-1)`, list(full, two...), list(full, two...)},
		{`remove(/items/x)`, list(full, two...), list(full, two...)},
		{`set(/apiVersion, v1)`, list(full, two...), list(full, two...)},
		{`set(/metadata/continue, x)`, string(encodeProtobuf("Status", &metav1.ListMeta{})), string(encodeProtobuf("Status", &metav1.ListMeta{Continue: "x"}))},
	} {
		got, err := editProtobuf([]byte(c.from), parseEdit(t, c.do))
		require.NoError(t, err, c.do)
		require.Equal(t, c.want, string(got), c.do)
	}
	for _, c := range []struct{ do, from, why string }{
		{`set(/spec/nodeName, n)`, pod(before), "use a client that accepts application/json"},
		{`set(/items/0, x)`, list(full), "use a client that accepts application/json"},
		{`set(/items/0, json("[]"))`, list(full), "use a client that accepts application/json"},
		{`set(/spec, x)`, list(full), "in protobuf only kind, apiVersion and metadata"},
		{`set(/items, json(null))`, list(full), "items cannot be null"},
		{`remove(/items)`, list(full), "items cannot be null"},
		{`set(/items, json("[]"))`, pod(before), "use a client that accepts application/json"},
		{`set(/metadata/odd, x)`, pod(before), `unknown field "odd"`},
		{`set(/metadata/resourceVersion, json(5))`, pod(before), "the edited metadata has no protobuf encoding"},
		{`set(/kind, json(5))`, pod(before), "is a string and cannot be 5"},
		{`set(/apiVersion, json(null))`, pod(before), "is a string and cannot be null"},
		{`set(/kind/x, y)`, pod(before), "use a client that accepts application/json"},
		{`set(/apiVersion/x, y)`, pod(before), "use a client that accepts application/json"},
		{`set(/metadata/name, x)`, string(encodeProtobuf("APIGroupList", &full)), "use a client that accepts"},
		{`set(/metadata/name, x)`, "xyz", "not an object in protobuf"},
		{`set(/metadata/name, x)`, frames.ProtobufPrefix + "\xff", "EOF"},
		{`set(/metadata/name, x)`, string(encodeProtobuf("Pod", &before, 0x12, 9)), "not a protobuf message"},
		{`set(/metadata/name, x)`, string(encodeProtobuf("Pod", &before, 0x80)), "not a protobuf message"},
	} {
		_, err := editProtobuf([]byte(c.from), parseEdit(t, c.do))
		require.ErrorContains(t, err, c.why, c.do)
	}
}

// TestEditProtobufFrame tests edits of watch events in protobuf.
func TestEditProtobufFrame(t *testing.T) {
	object := func(name string) []byte { return encodeProtobuf("Pod", &metav1.ObjectMeta{Name: name}) }
	frame := func(event watch.EventType, object []byte) string {
		return string(protobufFrame(&metav1.WatchEvent{Type: string(event), Object: runtime.RawExtension{Raw: object}}))
	}
	before := frame(watch.Added, object("a"))
	for do, want := range map[string]string{
		"set(/type, MODIFIED)":          frame(watch.Modified, object("a")),
		"remove(/type)":                 frame("", object("a")),
		"set(/object/metadata/name, b)": frame(watch.Added, object("b")),
		"remove(/object)":               frame(watch.Added, nil),
		"set(/object, json(null))":      frame(watch.Added, nil),
	} {
		got, err := protobufFraming{}.edit([]byte(before), parseEdit(t, do))
		require.NoError(t, err, do)
		require.Equal(t, want, string(got), do)
	}
	for _, do := range []string{"set(/object, x)", "set(/type/x, y)", "remove(/typ)", "remove(/typ/metadata)"} {
		_, err := protobufFraming{}.edit([]byte(before), parseEdit(t, do))
		require.ErrorIs(t, err, errUnsupportedEdit, do)
	}
}

// FuzzEdit tests that edits do not panic, and that edited JSON is valid JSON.
func FuzzEdit(f *testing.F) {
	f.Add(`{"a":{"b":[1,2]}}`, "/a/b/1")
	f.Add(`[{}]`, "/0/x")
	f.Add(string(encodeProtobuf("Pod", &metav1.ObjectMeta{Name: "a"})), "/metadata/name")
	f.Add(string(encodeProtobuf("PodList", &metav1.ListMeta{}, 0x12, 1, 65)), "/items/0")
	f.Fuzz(func(t *testing.T, body, pointer string) {
		for _, e := range []Effect{SetField(pointer, "v"), RemoveField(pointer)} {
			e := e.(edit)
			if e.check() != nil {
				return
			}
			_, _ = editProtobuf([]byte(body), e)
			_, _ = protobufFraming{}.edit(protobufFrame(&metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: []byte(body)}}), e)
			got, err := editJSON([]byte(body), e.path, e.jsonValue())
			if _, before := canonicalJSON([]byte(body)); before != nil || err != nil {
				continue
			}
			_, err = canonicalJSON(got)
			require.NoError(t, err, "%s became %s", body, got)
		}
	})
}
