package managedfields

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/randfill"

	"example.com/fakeapi/fake/internal/resource"
)

// generator generates random objects of one resource, and variants of them.
type generator struct {
	t   *testing.T
	res *resource.Resource
	rng *rand.Rand
	// escaped is how many strings in a thousand need escapes in FieldsV1.
	escaped int
	// manyWords makes duplicate elements of lists rare.
	manyWords bool
}

// object decodes a document into the resource's type in its served version.
func (g *generator) object(doc map[string]any) runtime.Object {
	body, err := json.Marshal(doc)
	require.NoError(g.t, err)
	obj := g.res.New()
	require.NoError(g.t, kjson.UnmarshalCaseSensitivePreserveInts(body, obj), "%s", body)
	obj.GetObjectKind().SetGroupVersionKind(g.res.GroupVersionKind())
	return obj
}

// document returns a random document.
func (g *generator) document() map[string]any {
	obj := g.res.New()
	g.filler().Fill(obj)
	body, err := json.Marshal(obj)
	require.NoError(g.t, err)
	var doc map[string]any
	require.NoError(g.t, kjson.UnmarshalCaseSensitivePreserveInts(body, &doc))
	delete(doc, "kind")
	delete(doc, "apiVersion")
	return g.replaceUnplain(doc).(map[string]any)
}

func (g *generator) filler() *randfill.Filler {
	return randfill.New().RandSource(g.rng).NilChance(0.6).NumElements(0, 3).MaxDepth(14).Funcs(
		func(s *string, _ randfill.Continue) { *s = g.word() },
		func(q *apiresource.Quantity, c randfill.Continue) {
			*q = *apiresource.NewMilliQuantity(c.Int63n(3)*1000, apiresource.DecimalSI)
		},
		func(t *metav1.Time, c randfill.Continue) { t.Time = time.Unix(c.Int63n(3)*3600, 0) },
		func(t *metav1.MicroTime, c randfill.Continue) { t.Time = time.Unix(c.Int63n(3)*3600, 5000) },
		func(v *intstr.IntOrString, c randfill.Continue) {
			*v = intstr.FromInt32(c.Int31n(3))
			if c.Bool() {
				*v = intstr.FromString(g.word())
			}
		},
		func(r *runtime.RawExtension, _ randfill.Continue) { r.Raw = []byte(`{"a":[1,null]}`) },
		func(m *[]metav1.ManagedFieldsEntry, _ randfill.Continue) { *m = nil },
		func(i *int32, c randfill.Continue) { *i = c.Int31n(120) - 5 },
		func(i *int64, c randfill.Continue) { *i = c.Int63n(120) - 5 },
	)
}

func (g *generator) word() string {
	if g.rng.Intn(1000) < g.escaped {
		words := []string{"é", `"`, `\`, "<b>", "a\tb", "a&b", "\u2028", "\x7f"}
		return words[g.rng.Intn(len(words))]
	}
	if g.manyWords && g.rng.Intn(4) > 0 {
		return fmt.Sprint("w", g.rng.Intn(300))
	}
	words := []string{"", "a", "b", "c", "a-b", "a.b/c", "A B", "a!", "10", "9", "app", "tier", "x:y", "a,b", "z}", ".", "f:x"}
	return words[g.rng.Intn(len(words))]
}

// isPlain reports whether a string needs no escapes in FieldsV1.
func isPlain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' })
}

// replaceUnplain replaces the strings that the filler generates for other types than string.
func (g *generator) replaceUnplain(v any) any {
	switch v := v.(type) {
	case string:
		if !isPlain(v) {
			return g.word()
		}
	case []any:
		for i := range v {
			v[i] = g.replaceUnplain(v[i])
		}
	case map[string]any:
		for _, key := range sortedKeys(v) {
			value := v[key]
			delete(v, key)
			if !isPlain(key) {
				key = g.word()
			}
			v[key] = g.replaceUnplain(value)
		}
	}
	return v
}

// mix returns a document that is mostly a and partly b.
func (g *generator) mix(a, b any) any {
	switch a := a.(type) {
	case map[string]any:
		other, ok := b.(map[string]any)
		if !ok {
			return copyJSON(a)
		}
		return g.mixMaps(a, other)
	case []any:
		other, _ := b.([]any)
		return g.mixLists(a, other)
	}
	if b != nil && g.rng.Intn(6) == 0 {
		return b
	}
	return a
}

func (g *generator) mixMaps(a, b map[string]any) map[string]any {
	out := make(map[string]any)
	for _, key := range sortedKeys(a) {
		value := a[key]
		switch other, both := b[key]; {
		case both && g.rng.Intn(4) == 0:
			out[key] = g.mix(value, other)
		case g.rng.Intn(25) != 0:
			out[key] = g.mix(value, nil)
		}
	}
	for _, key := range sortedKeys(b) {
		if _, both := a[key]; !both && g.rng.Intn(12) == 0 {
			out[key] = copyJSON(b[key])
		}
	}
	return out
}

func (g *generator) mixLists(a, b []any) []any {
	out := []any{}
	for i, value := range a {
		switch {
		case i < len(b) && g.rng.Intn(6) == 0:
			out = append(out, g.mix(value, b[i]))
		case g.rng.Intn(15) != 0:
			out = append(out, g.mix(value, nil))
		}
	}
	for _, value := range b {
		if g.rng.Intn(12) == 0 {
			out = append(out, copyJSON(value))
		}
	}
	if g.rng.Intn(8) == 0 {
		g.rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	return out
}

func copyJSON(v any) any { return runtime.DeepCopyJSONValue(v) }

// sortedKeys returns the keys of a map in the same order in each run, so that a seed always
// generates the same objects.
func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
