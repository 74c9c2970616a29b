package typedjson_test

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"

	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/fake/internal/typedjson"
)

// builtinTypes returns the Go types of all built-in resources.
func builtinTypes() (types []reflect.Type) {
	for _, res := range builtin.AllVersions().Stored() {
		types = append(types, reflect.TypeOf(res.New()).Elem())
	}
	return types
}

// forEach calls check with random objects of all built-in types.
func forEach(t *testing.T, seed int64, check func(g *generator, typ *typedjson.Type, goType reflect.Type, obj any)) {
	g := &generator{Rand: rand.New(rand.NewSource(seed))}
	var types typedjson.Types
	for _, goType := range builtinTypes() {
		typ := types.NewType(goType)
		for n := range 20 {
			g.fill, g.plain = 10+g.Intn(40), n%2 == 0
			check(g, typ, goType, g.object(goType))
		}
	}
}

func toDocument(t *testing.T, obj any) map[string]any {
	body, err := json.Marshal(obj)
	require.NoError(t, err)
	var doc map[string]any
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(body, &doc))
	return doc
}

func TestAppend(t *testing.T) {
	appended, total := 0, 0
	forEach(t, 1, func(_ *generator, typ *typedjson.Type, goType reflect.Type, obj any) {
		want, err := json.Marshal(obj)
		require.NoError(t, err)
		total++
		got, ok := typ.Append([]byte("x"), obj)
		if ok {
			appended++
			require.Equal(t, "x"+string(want), string(got), "%v", goType)
		} else {
			t.Logf("%v %.600s", goType, want)
		}
	})
	require.Equal(t, total, appended)
}

func TestDecode(t *testing.T) {
	decoded, valid := 0, 0
	forEach(t, 2, func(g *generator, typ *typedjson.Type, goType reflect.Type, obj any) {
		doc := toDocument(t, obj)
		for n := range 12 {
			body := g.text(doc)
			switch {
			case n > 8:
				body = g.damage(body)
			case n > 4:
				body = g.text(g.change(doc))
			}
			want := reflect.New(goType).Interface()
			strict, err := kjson.UnmarshalStrict([]byte(body), want)
			isValid := err == nil && len(strict) == 0
			got := reflect.New(goType).Interface()
			ok := typ.Decode([]byte(body), got)
			if ok {
				decoded++
				require.True(t, isValid, "%v: %v %v\n%s", goType, err, strict, body)
				require.True(t, reflect.DeepEqual(want, got), "%v\n%s\n%#v\n%#v", goType, body, want, got)
			}
			if isValid {
				valid++
			}
		}
	})
	t.Logf("%d of %d", decoded, valid)
	require.Greater(t, decoded, valid*9/10)
}

// Texts that are almost JSON are not supported.
func TestDecodeInvalidTexts(t *testing.T) {
	var types typedjson.Types
	typ := types.NewType(reflect.TypeFor[corev1.Pod]())
	require.True(t, typ.Decode([]byte(`{"spec":{"activeDeadlineSeconds":1234567890123456789}}`), &corev1.Pod{}))
	for _, text := range []string{
		"{}\x00", "{}{}", `{"spec":{"activeDeadlineSeconds":+1234567890123456789}}`, `{"spec":{"activeDeadlineSeconds":-+1234567890123456789}}`,
		`{"metadata":{"labels":{"a`, `{"kind":"Pod`, `{"kind`, `{"spec":{"containers":[{`,
	} {
		require.False(t, typ.Decode([]byte(text), &corev1.Pod{}), "%q", text)
		require.False(t, typ.Merge([]byte(text), &corev1.Pod{}), "%q", text)
		require.False(t, typ.StrategicMerge([]byte(text), &corev1.Pod{}), "%q", text)
	}
	typ = types.NewType(reflect.TypeFor[corev1.Secret]())
	require.True(t, typ.Decode([]byte(`{"data":{"a":"YQ=="}}`), &corev1.Secret{}))
	for _, text := range []string{`{"data":{"a":"!"}}`, `{"data":{"a":"YQ"}}`, `{"data":{"a":"YQ==="}}`} {
		require.False(t, typ.Decode([]byte(text), &corev1.Secret{}), "%q", text)
		require.False(t, typ.Merge([]byte(text), &corev1.Secret{}), "%q", text)
	}
}

func TestMerge(t *testing.T) {
	merged, valid := 0, 0
	forEach(t, 3, func(g *generator, typ *typedjson.Type, goType reflect.Type, obj any) {
		current, err := json.Marshal(obj)
		require.NoError(t, err)
		other := toDocument(t, g.object(goType))
		for n := range 12 {
			var patch string
			switch {
			case n < 6:
				patch = g.text(g.part(g.change(toDocument(t, obj))))
			default:
				patch = g.text(g.part(g.change(other)))
			}
			duplicates, err := kjson.UnmarshalStrict([]byte(patch), new(any))
			if err != nil || len(duplicates) > 0 {
				continue
			}
			result, err := jsonpatch.MergePatch(current, []byte(patch))
			require.NoError(t, err, patch)
			want := reflect.New(goType).Interface()
			strict, err := kjson.UnmarshalStrict(result, want)
			isValid := err == nil && len(strict) == 0
			got := reflect.New(goType).Interface()
			require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(current, got))
			if typ.Merge([]byte(patch), got) {
				merged++
				require.True(t, isValid, "%v: %v %v\n%s\n%s", goType, err, strict, current, patch)
				require.True(t, reflect.DeepEqual(want, got), "%v\n%s\n%s\n%s\n%#v\n%#v", goType, current, patch, result, want, got)
			}
			if isValid {
				valid++
			}
		}
	})
	t.Logf("%d of %d", merged, valid)
	require.Greater(t, merged, valid/2)
}
