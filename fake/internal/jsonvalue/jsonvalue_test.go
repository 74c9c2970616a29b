package jsonvalue

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"
)

// parts are what random texts are made of. Some make an object one that the library decodes.
var parts = []string{
	`{`, `}`, `[`, `]`, `,`, `:`, ` `, "\n\t\r", `"a"`, `"b"`, `"a":`, `"b":1`, `"f:a":{}`, `""`, `"\""`, `"\\"`, `"\n"`, `"\u0041"`,
	`"\ud800"`, `"\/"`, `"é"`, "\"\xff\"", "\"\x01\"", "\"\x7f\"", `"\x"`, `null`, `true`, `false`, `tru`, `0`, `-0`, `-1`, `01`, `1.0`, `1e3`, `1E-3`,
	`-`, `1.`, `.5`, `123456789012345678`, `9223372036854775807`, `9223372036854775808`, `1e400`, `0.1`, `"`, `\`, `x`, "\x00", `<&>`,
}

// randomText returns a text that is mostly an object.
func randomText(r *rand.Rand, depth int) string {
	if r.IntN(60) == 0 {
		return parts[r.IntN(len(parts))]
	}
	var out []string
	switch {
	case depth == 0:
		return []string{`null`, `true`, `false`, `0`, `17`, `-4`, `1.5`, `1e2`, `""`, `"text"`, `"a\"b\\c\n"`, `"<é>"`}[r.IntN(12)]
	case r.IntN(2) == 0:
		for range r.IntN(4) {
			out = append(out, randomText(r, r.IntN(depth)))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	for i := range r.IntN(12) {
		name := fmt.Sprintf("%c%d", "abcdefgh"[r.IntN(8)], i)
		if r.IntN(60) == 0 {
			name = "same"
		}
		out = append(out, fmt.Sprintf(` "%s":%s`, name, randomText(r, r.IntN(depth))))
	}
	return "{" + strings.Join(out, ",\n") + " }"
}

// requireSameDecoding compares both functions with the library, and reports whether the library was
// not needed.
func requireSameDecoding(t *testing.T, text string) (isFast bool) {
	var want map[string]any
	wantErr := kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &want)
	got, err := Decode([]byte(text))
	require.Equal(t, wantErr, err, text)
	require.Equal(t, want, got, text)
	requireSameNumbers(t, want, got, text)

	want = nil
	wantProblems, wantErr := kjson.UnmarshalStrict([]byte(text), &want)
	got, problems, err := DecodeStrict([]byte(text))
	require.Equal(t, wantErr, err, text)
	require.Equal(t, wantProblems, problems, text)
	require.Equal(t, want, got, text)

	fast, isFast := decodeObject([]byte(text))
	if isFast {
		requireSameEncoding(t, fast)
	}
	return isFast
}

// requireSameNumbers compares numbers, of which require.Equal does not distinguish -0.
func requireSameNumbers(t *testing.T, want, got any, text string) {
	switch want := want.(type) {
	case float64:
		require.Equal(t, math.Float64bits(want), math.Float64bits(got.(float64)), text)
	case map[string]any:
		for name, value := range want {
			requireSameNumbers(t, value, got.(map[string]any)[name], text)
		}
	case []any:
		for i, value := range want {
			requireSameNumbers(t, value, got.([]any)[i], text)
		}
	}
}

func requireSameEncoding(t *testing.T, value any) {
	want, wantErr := json.Marshal(value)
	got, err := Append([]byte("before"), value)
	require.Equal(t, wantErr, err)
	if err == nil {
		require.Equal(t, "before"+string(want), string(got))
	}
}

func TestDecodesAsLibrary(t *testing.T) {
	fast := 0
	const texts = 5000
	for seed := range uint64(texts) {
		if requireSameDecoding(t, randomText(rand.New(rand.NewPCG(seed, 1)), 4)) {
			fast++
		}
	}
	require.Greater(t, fast, texts/4)
	for _, part := range parts {
		for _, text := range []string{part, part + `{"a":1}`, `{"a":` + part + `}`, `{"a":1,` + part + `}`, `{"a":1}` + part, `{"a":[` + part + `]}`, `{` + part + `:1}`, `{"a" ` + part + `}`} {
			requireSameDecoding(t, text)
		}
	}
	for _, depth := range []int{maxDepth - 1, maxDepth, 9999, 10001} {
		require.Equal(t, depth < maxDepth, requireSameDecoding(t, `{"a":`+strings.Repeat("[", depth)+strings.Repeat("]", depth)+`}`))
	}
}

// What is common is decoded without the library.
func TestDecodesWithoutLibrary(t *testing.T) {
	for _, text := range []string{
		`{}`, ` { "a" : [ ] } `, `{"a":null,"b":true,"c":false,"d":-1.5e3,"e":9223372036854775808,"f":"é\u0041\"\n"}`,
		`{"f:list":{"k:{\"name\":\"a\"}":{".":{}}}}`, string(document()),
	} {
		require.True(t, requireSameDecoding(t, text), text)
	}
}

func TestEncodesAsLibrary(t *testing.T) {
	var ascii strings.Builder
	for c := range 128 {
		ascii.WriteByte(byte(c))
		requireSameEncoding(t, string(rune(c)))
	}
	for _, value := range []any{
		nil, true, false, "", ascii.String(), "\u2028é\xff", "a\"b", int64(math.MinInt64), int64(math.MaxInt64), 0.1, 1e21, 2.0, math.Copysign(0, -1), math.NaN(),
		json.Number("1"), json.Number("x"), int32(4), []string{"a"}, map[string]string{"b": "c"}, json.RawMessage(`{"x": 1}`), struct{ A string }{"<"},
		[]any{}, []any(nil), map[string]any{}, map[string]any(nil), func() {},
		map[string]any{"b": []any{int64(1), "x", nil}, "a": map[string]any{"<": "&", "": int64(0), "\xff": 1.5}, "z": func() {}},
	} {
		requireSameEncoding(t, value)
		requireSameEncoding(t, []any{value})
	}
	many := make(map[string]any)
	for i := range 100 {
		many[fmt.Sprint("name", i)] = int64(i)
	}
	requireSameEncoding(t, many)
}

// A Gap is an empty string at a known offset.
func TestGap(t *testing.T) {
	gap := &Gap{}
	data, err := Append(nil, map[string]any{"a": "b", "gap": gap, "z": []any{}})
	require.NoError(t, err)
	require.Equal(t, `{"a":"b","gap":"","z":[]}`, string(data))
	require.Equal(t, `{"a":"b","gap":"`, string(data[:gap.Offset]))
}

// A decoded object shares no memory with the text.
func TestDecodeCopies(t *testing.T) {
	data := []byte(`{"name":["value","\"escaped\""]}`)
	object, err := Decode(data)
	require.NoError(t, err)
	clear(data)
	require.Equal(t, map[string]any{"name": []any{"value", `"escaped"`}}, object)
}

func FuzzDecode(f *testing.F) {
	for _, part := range parts {
		f.Add(`{"a":` + part + `}`)
	}
	f.Add(string(document()))
	f.Fuzz(func(t *testing.T, text string) { requireSameDecoding(t, text) })
}

// document returns a custom resource with managedFields.
func document() []byte {
	var items, owned []string
	for i := range 10 {
		items = append(items, fmt.Sprintf(`{"name":"n%d","value":"value-of-some-length-%d"}`, i, i))
		owned = append(owned, fmt.Sprintf(`"k:{\"name\":\"n%d\"}":{".":{},"f:name":{},"f:value":{}}`, i))
	}
	return fmt.Appendf(nil, `{"apiVersion":"example.com/v1","kind":"Meter","metadata":{"creationTimestamp":"2026-01-01T00:00:00Z","generation":1,`+
		`"managedFields":[{"apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{".":{},"f:items":{".":{},%s},"f:mode":{},"f:size":{}}},`+
		`"manager":"client","operation":"Update","time":"2026-01-01T00:00:00Z"}],"name":"m1","namespace":"default","resourceVersion":"12345",`+
		`"uid":"6a9f2f52-bc3d-4d1c-8b9e-1f0e4f5f3a11"},"spec":{"items":[%s],"mode":"a","size":1},"status":{"ready":true}}`,
		strings.Join(owned, ","), strings.Join(items, ","))
}

// BenchmarkValue measures a custom resource of two KiB, with the library and without.
func BenchmarkValue(b *testing.B) {
	data := document()
	object, err := Decode(data)
	require.NoError(b, err)
	for name, do := range map[string]func() error{
		"Decode":       func() error { _, err := Decode(data); return err },
		"DecodeStrict": func() error { _, _, err := DecodeStrict(data); return err },
		"Append":       func() error { _, err := Append(nil, object); return err },
		"Library/Decode": func() error {
			var object map[string]any
			return kjson.UnmarshalCaseSensitivePreserveInts(data, &object)
		},
		"Library/DecodeStrict": func() error {
			var object map[string]any
			_, err := kjson.UnmarshalStrict(data, &object)
			return err
		},
		"Library/Append": func() error { _, err := json.Marshal(object); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, do())
			}
		})
	}
}
