package typedjson_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"example.com/fakeapi/fake/internal/typedjson"
)

// generator generates random objects and documents.
type generator struct {
	*rand.Rand
	// fill is the chance in percent that a pointer, list or map is not nil.
	fill int
	// plain leaves out strings that need escapes.
	plain bool
}

// object returns a random object of a type.
func (g *generator) object(t reflect.Type) any {
	obj := reflect.New(t).Interface()
	randfill.New().RandSource(g.Rand).NilChance(1-float64(g.fill)/100).NumElements(0, 3).MaxDepth(12).Funcs(
		func(s *string, _ randfill.Continue) { *s = g.word() },
		func(q *apiresource.Quantity, c randfill.Continue) {
			*q = apiresource.MustParse([]string{"0", "1", "100m", "1500m", "1Gi", "0.5Mi", "1000", "1e3", "123456789012345678901", "1.5Ki"}[c.Intn(10)])
			if c.Bool() {
				q.Add(apiresource.MustParse("1"))
			}
		},
		func(t *metav1.Time, c randfill.Continue) { t.Time = time.Unix(c.Int63n(3)*3600, c.Int63n(2)*5000) },
		func(t *metav1.MicroTime, c randfill.Continue) { t.Time = time.Unix(c.Int63n(3)*3600, c.Int63n(2)*5000) },
		func(v *intstr.IntOrString, c randfill.Continue) {
			*v = intstr.FromInt32(c.Int31n(3))
			if c.Bool() {
				*v = intstr.FromString(g.word())
			}
		},
		func(r *runtime.RawExtension, _ randfill.Continue) { r.Raw = []byte(`{"b": [1,null],"a":"<"}`) },
		func(v *apiextensionsv1.JSON, c randfill.Continue) {
			v.Raw = []byte([]string{`null`, `1`, `"a"`, `{"b": 1}`, `[{"a":null}]`}[c.Intn(5)])
		},
		func(i *int32, c randfill.Continue) { *i = c.Int31n(100) - 5 },
		func(i *int64, c randfill.Continue) { *i = c.Int63()>>c.Intn(64) - 5 },
		func(f *metav1.FieldsV1, c randfill.Continue) {
			f.SetRawString([]string{`{"f:a":{}}`, `{"f:a": {}}`, `{"f:<":{}}`, `{"k:{\"a\":\"é\"}":{".":{}}}`, `{}`}[c.Intn(5)])
		},
	).Fill(obj)
	return obj
}

// word returns a random string.
func (g *generator) word() string {
	words := []string{"", "a", "b", "name", "a-b", "10", "0", "TCP", "2020-01-01T00:00:00Z", "a longer text with more than eight bytes"}
	if !g.plain {
		words = append(words, "é", `"`, `\`, "<b>", "a long text\twith escapes", "\u2028", "\x7f", "\xff", "\x00", "日本語", "long enough for a word \x1f")
	}
	return words[g.Intn(len(words))]
}

// change returns a document with some of its values changed, removed or added.
func (g *generator) change(v any) any {
	switch v := v.(type) {
	case map[string]any:
		changed := make(map[string]any, len(v))
		for _, key := range sortedKeys(v) {
			switch g.Intn(12) {
			case 0:
			case 1:
				changed[key] = nil
			default:
				changed[key] = g.change(v[key])
			}
		}
		if g.Intn(20) == 0 {
			changed[g.word()] = g.scalar()
		}
		return changed
	case []any:
		changed := make([]any, len(v))
		for i := range v {
			changed[i] = g.change(v[i])
		}
		return changed
	}
	if g.Intn(30) == 0 {
		return g.scalar()
	}
	return v
}

func (g *generator) scalar() any {
	return []any{nil, true, 1, -5, 1.5, json.Number("1e3"), int64(1) << 40, g.word(), []any{}, map[string]any{}, []any{nil}, map[string]any{"a": nil}}[g.Intn(12)]
}

// text encodes a document with white space, and with keys in random order and duplicate keys.
func (g *generator) text(v any) string {
	var b strings.Builder
	g.write(&b, v)
	return b.String()
}

func (g *generator) write(b *strings.Builder, v any) {
	if g.Intn(20) == 0 {
		b.WriteString([]string{" ", "\n", "\t ", "\r"}[g.Intn(4)])
	}
	switch v := v.(type) {
	case map[string]any:
		keys := sortedKeys(v)
		g.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		if len(keys) > 0 && g.Intn(60) == 0 {
			keys = append(keys, keys[0])
		}
		b.WriteByte('{')
		for i, key := range keys {
			if i > 0 {
				b.WriteByte(',')
			}
			g.write(b, key)
			b.WriteByte(':')
			g.write(b, v[key])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			g.write(b, v[i])
		}
		b.WriteByte(']')
	default:
		text, err := json.Marshal(v)
		if err != nil {
			panic(fmt.Sprint(v, err))
		}
		b.Write(text)
	}
}

// damage returns a text with a few bytes changed.
func (g *generator) damage(text string) string {
	b := []byte(text)
	for range 1 + g.Intn(2) {
		i := g.Intn(len(b))
		switch g.Intn(3) {
		case 0:
			b[i] = `{}[]",:0.-n\ at`[g.Intn(15)]
		case 1:
			b = slices.Delete(b, i, i+1)
		default:
			b = slices.Insert(b, i, `{}[]",:0.-n\ at`[g.Intn(15)])
		}
		if len(b) == 0 {
			return "{"
		}
	}
	return string(b)
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// part returns some of the members of an object and of its objects.
func (g *generator) part(v any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	some := make(map[string]any)
	for _, key := range sortedKeys(object) {
		if g.Intn(3) == 0 {
			some[key] = g.part(object[key])
		}
	}
	return some
}

// keyed gives most elements of lists that strategic merge patches merge a key of their own.
func (g *generator) keyed(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			g.keyed(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			g.keyed(v.Index(i))
		}
	case reflect.Struct:
		if fields, ok := v.Addr().Interface().(*metav1.FieldsV1); ok {
			fields.SetRawString(`{"f:a":{}}`) // as the library encodes it
			return
		}
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			g.keyed(v.Field(i))
			if key := v.Type().Field(i).Tag.Get("patchMergeKey"); key != "" {
				g.setKeys(v.Field(i), key)
			}
		}
	}
}

// setKeys sets the field of the elements of a list whose name in JSON is key.
func (g *generator) setKeys(list reflect.Value, key string) {
	for i := range list.Len() {
		v := list.Index(i)
		for j := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(j).Tag.Get("json"), ",")
			if name != key || g.Intn(20) == 0 {
				continue
			}
			switch n := 1 + g.Intn(3) + 3*i; v.Field(j).Kind() {
			case reflect.String:
				v.Field(j).SetString(fmt.Sprint("k", n))
			case reflect.Int32:
				v.Field(j).SetInt(int64(n))
			}
		}
	}
}

// shorten returns a document with some elements of its lists removed.
func (g *generator) shorten(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			v[key] = g.shorten(v[key])
		}
	case []any:
		if len(v) > 0 && g.Intn(3) == 0 {
			i := g.Intn(len(v))
			v = slices.Delete(v, i, i+1)
		}
		for i := range v {
			v[i] = g.shorten(v[i])
		}
		return v
	}
	return v
}

// reorder returns a strategic merge patch with some of its orders of elements changed.
func (g *generator) reorder(patch map[string]any) map[string]any {
	for _, name := range sortedKeys(patch) {
		switch v := patch[name].(type) {
		case map[string]any:
			patch[name] = g.reorder(v)
		case []any:
			if !strings.HasPrefix(name, "$setElementOrder/") || g.Intn(3) > 0 {
				continue
			}
			switch g.Intn(4) {
			case 0:
				g.Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
			case 1:
				patch[name] = v[:g.Intn(len(v)+1)]
			case 2:
				patch[name] = append(v, v...)
			default:
				delete(patch, name)
			}
		}
	}
	return patch
}

// operations returns a JSON patch of a document. Most of its values are those of other documents.
func (g *generator) operations(doc, other any) (operations []typedjson.Operation) {
	for range 1 + g.Intn(3) {
		from := doc
		if g.Intn(3) == 0 {
			from = other
		}
		path, value := g.pointer(from)
		op := typedjson.Operation{Op: []string{"add", "add", "replace", "remove", "test", "copy"}[g.Intn(6)], Path: path}
		if op.Op == "add" || op.Op == "replace" || op.Op == "test" {
			if g.Intn(10) == 0 {
				value = g.scalar()
			}
			if op.Op != "test" {
				value = g.change(value)
			}
			if op.Value = []byte(strings.TrimSpace(g.text(value))); string(op.Value) == "null" {
				op.Value = nil
			}
		}
		operations = append(operations, op)
	}
	return operations
}

// pointer returns a JSON pointer to a value of a document, or to one that is not there, and a
// value.
func (g *generator) pointer(v any) (string, any) {
	if g.Intn(4) == 0 {
		return "", v
	}
	switch v := v.(type) {
	case map[string]any:
		if keys := sortedKeys(v); len(keys) > 0 {
			key := keys[g.Intn(len(keys))]
			path, value := g.pointer(v[key])
			return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key) + path, value
		}
	case []any:
		if g.Intn(3) == 0 {
			return "/" + []string{"-", "0", fmt.Sprint(len(v)), "01", "-1"}[g.Intn(5)], append(v, g.scalar())[0]
		}
		if len(v) > 0 {
			i := g.Intn(len(v))
			path, value := g.pointer(v[i])
			return fmt.Sprint("/", i, path), value
		}
	}
	return "", v
}
