package managedfields

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
)

// TestDecodePatchNumbers checks that all numbers without a fraction are integers, as in YAML.
func TestDecodePatchNumbers(t *testing.T) {
	for text, want := range map[string]any{
		"1": int64(1), "-7": int64(-7), "0": int64(0), "-0": int64(0), "11.0": int64(11), "3e1": int64(30), "1E2": int64(100),
		"-0.0": int64(0), "100e-2": int64(1), "1e18": int64(1e18), "9223372036854775807": int64(1<<63 - 1),
		"1.5": 1.5, "1e-2": 0.01, "1e21": 1e21, "9223372036854775808": float64(1 << 63),
	} {
		for _, patch := range []string{`{"a":[` + text + `]}`, "a:\n- " + text + "\n"} {
			config, err := NewPatch([]byte(patch)).decode()
			require.NoError(t, err, patch)
			require.Equal(t, map[string]any{"a": []any{want}}, config, patch)
		}
	}
}

// TestDecodePatchText checks that JSON is read as YAML, which reads some texts otherwise and
// refuses others.
func TestDecodePatchText(t *testing.T) {
	for body, want := range map[string]string{
		`{"a":"\u00e9\b\f\n\r\t\\\""}`:                   "é\b\f\n\r\t\\\"",
		"{\"a\":\"a\u0085b\"}":                           "a b",
		"{\"a\":\"\U0001f600\"}":                         "\U0001f600",
		"{\n  \"a\": \"x\"\n}\n":                         "x",
		`{"a":"1","a":"2"}`:                              "2",
		`{"` + strings.Repeat("k", 900) + `":1,"a":"x"}`: "x",
	} {
		config, err := NewPatch([]byte(body)).decode()
		require.NoError(t, err, body)
		require.Equal(t, want, config["a"], body)
	}
	for body, want := range map[string]string{
		`{"a":"\ud83d\ude00"}`: "found invalid Unicode character escape code",
		`{"a":"\/"}`:           "found unknown escape character",
		"{\"a\":\"\x7f\"}":     "control characters are not allowed",
		"{\n\"a\"\n:1}":        "did not find expected ',' or '}'",
		" \n\t{}":              "found character that cannot start any token",
		`{"` + strings.Repeat("k", 1024) + `":"x"}`: "did not find expected ',' or '}'",
	} {
		_, err := NewPatch([]byte(body)).decode()
		require.ErrorContains(t, err, want, body)
	}
}

// TestPlainJSON decodes random JSON as JSON and as YAML, with the same result if isPlainJSON.
func TestPlainJSON(t *testing.T) {
	plain := 0
	for seed := range uint64(5000) {
		g := &jsonGenerator{rand.New(rand.NewPCG(seed, 1))}
		body := []byte(g.space() + g.object(3) + g.space())
		if !isPlainJSON(body) {
			continue
		}
		plain++
		var fromJSON, fromYAML map[string]any
		require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(body, &fromJSON), "%q", body)
		require.NoError(t, utilyaml.Unmarshal(body, &fromYAML), "%q", body)
		require.Equal(t, fromYAML, fromJSON, "%q", body)
	}
	require.Greater(t, plain, 500)
}

type jsonGenerator struct{ *rand.Rand }

func (g *jsonGenerator) pick(texts ...string) string { return texts[g.IntN(len(texts))] }

func (g *jsonGenerator) space() string { return g.pick("", "", "", "", "", " ", "\n", "\n  ", "  \n") }

func (g *jsonGenerator) object(depth int) string {
	var members []string
	for i := range g.IntN(4) {
		key := g.pick("a", "<<", "null", "1", "a b", "#", "- x", "{", "", "@", "0x1", strings.Repeat("k", 990)) + g.pick("", fmt.Sprint(i))
		members = append(members, g.space()+`"`+key+`":`+g.space()+g.value(depth-1)+g.space())
	}
	return "{" + strings.Join(members, ",") + g.space() + "}"
}

func (g *jsonGenerator) value(depth int) string {
	if depth == 0 || g.IntN(2) == 0 {
		return g.pick("null", "true", "false", "0", "-1", "12", "123456789012345678", "-12345678901234567", "1234567890123456789", "1.5", "2e3",
			`"x"`, `""`, `"null"`, `"~"`, `"2020-01-01"`, `"a: b # c"`, `"--- "`, `"%"`, `"\n\t\r\b\f\\\""`, `"\u0000\u00e9\u0085\u007f"`, `"\u4e2d"`, `"x\\"`, `" x "`, `"é"`)
	}
	if g.IntN(2) == 0 {
		return g.object(depth)
	}
	var items []string
	for range g.IntN(4) {
		items = append(items, g.space()+g.value(depth-1)+g.space())
	}
	return "[" + strings.Join(items, ",") + g.space() + "]"
}
