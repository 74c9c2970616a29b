package codec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestExceedsSize(t *testing.T) {
	const limit = 1000
	long := "a: &a " + strings.Repeat("x", 100) + "\nb: [" + strings.Repeat("*a, ", 20) + "]"
	powers := "a: &a [x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: [*c, *c, *c, *c, *c, *c]"
	for body, exceeds := range map[string]bool{
		"":                                  false,
		"a: b":                              false,
		strings.Repeat("x", 999):            false,
		"a: " + strings.Repeat("x", 1000):   true,
		"a: &a [x]\nb: *a":                  false,
		long:                                true,
		strings.Replace(long, "*", "!", -1): false,
		powers:                              true,
		"a: &a [*a, *a]":                    false, // the decoder rejects it
		"a: &a [":                           false,
		"a: *a\nb: &b c":                    false,
	} {
		require.Equal(t, exceeds, ExceedsSize([]byte(body), limit), body)
	}
}

// FuzzExceedsSize checks that a document of at most 1,000 bytes with its aliases expanded decodes
// to at most 100,000 bytes of JSON.
func FuzzExceedsSize(f *testing.F) {
	f.Add("a: &a [x, x]\nb: [*a, *a]")
	f.Add("a: &a {k: v}\nb: {<<: *a, c: *a}")
	f.Add("a: &a [*a]")
	f.Add("- &a \"\\u00e4\"\n- *a")
	f.Add("&a : *a")
	f.Fuzz(func(t *testing.T, body string) {
		if len(body) > 1000 || ExceedsSize([]byte(body), 1000) {
			return
		}
		data, err := yaml.YAMLToJSON([]byte(body))
		if err == nil && len(data) > 100_000 {
			t.Fatalf("%d bytes of YAML are %d bytes of JSON", len(body), len(data))
		}
	})
}
