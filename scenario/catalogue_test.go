package scenario

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

const wellFormed = `# 7 a-case: what happens
#
# It happens, and
# it goes on.
#
# Role: mirror
# Must: do this,
#   and that
# Source: https://example.com/a
# Source: https://example.com/b
# Passes: one, two-b
# Fails: three: it does not: never
# Fails: four: it cannot

run mirror
run mirror-b
run other
run mirror-b
# no: field
`

func TestParseCase(t *testing.T) {
	cases, err := readCases(fstest.MapFS{"x/007-a-case.txtar": {Data: []byte(wellFormed)}})
	require.NoError(t, err)
	require.Empty(t, cmp.Diff([]Case{{
		Number: 7, Name: "a-case", Title: "what happens", Description: "It happens, and\nit goes on.",
		Role: "mirror", Must: "do this, and that", Sources: []string{"https://example.com/a", "https://example.com/b"},
		Passes: []string{"one", "two-b"}, Fails: map[string]string{"three": "it does not: never", "four": "it cannot"},
		Text: wellFormed,
	}}, cases))
	require.Equal(t, "7 a-case: what happens", cases[0].String())
	require.Equal(t, []string{"mirror", "mirror-b"}, cases[0].clientNames())
}

func TestParseCaseErrors(t *testing.T) {
	for change, want := range map[string]string{
		"# 7 a-case: what happens -> # a-case: what happens":   `x/007-a-case.txtar:1: expected "NUMBER NAME: TITLE"`,
		"# 7 a-case: -> # 07 a-case:":                          `:1: expected "NUMBER NAME: TITLE"`,
		"# 7 a-case: -> # 7 A_case:":                           `:1: expected "NUMBER NAME: TITLE"`,
		"# 7 a-case -> # 8 a-case":                             `:1: expected the file to be called 008-a-case.txtar`,
		"# 7 a-case: what happens -> run x":                    `:1: expected "# NUMBER NAME: TITLE", found no comment`,
		"# It happens, and\n# it goes on.\n -> ":               ":12: expected a description, found none",
		"# Role: mirror\n -> ":                                 ":13: expected a field Role, found none",
		"# Role: mirror\n -> # Role: a mirror\n":               `:7: expected the name of a role, found "a mirror"`,
		"# Role: mirror\n -> # Role: mirror\n# Role: mirror\n": ":7: expected the field Role once, found it twice",
		"# Role: mirror\n -> # Passes: two\n# Role: mirror\n":  ":7: expected the fields Role, Must, Source, Passes, Fails in this order, found Role after Passes",
		"# Must: do this,\n#   and that\n -> ":                 ":12: expected a field Must, found none",
		"# Must: do this,\n#   and that -> # Must:":            `:8: expected a value after "Must:"`,
		"#   and that -> # and that":                           `:8: expected one of the fields Role, Must, Source, Passes, Fails, or an indented line, found "and that"`,
		"#   and that -> # Most: that":                         `:8: expected one of the fields Role, Must, Source, Passes, Fails, or an indented line, found "Most: that"`,
		"https://example.com/a -> issue 12":                    `:10: expected the https address of a source, found "issue 12"`,
		"https://example.com/a -> http://example.com":          ":10: expected the https address of a source",
		"https://example.com/a -> https:///a":                  ":10: expected the https address of a source",
		"https://example.com/a -> https://example.com/a b":     ":10: expected the https address of a source",
		"one, two-b -> one, , two":                             `:12: expected the name of a client, found ""`,
		"one, two-b -> one, one":                               ":12: expected each client once, found one twice",
		"three: it -> one: it":                                 ":13: expected each client once, found one twice",
		"three: it does not: never -> three":                   `:13: expected "CLIENT: REASON", found "three"`,
		"run mirror -> runs mirror":                            "x/007-a-case.txtar:15: expected a step",
		"\nrun mirror\nrun mirror-b\n -> \n":                   "", // the other step that runs mirror-b remains
		"mirror-b -> mirrors":                                  "", // the step that runs mirror remains
		"# Role: mirror -> # Role: lister":                     ":14: expected a step that runs lister or lister-NAME, found none",
	} {
		before, after, ok := strings.Cut(change, " -> ")
		require.True(t, ok, change)
		require.Contains(t, wellFormed, before)
		text := strings.ReplaceAll(wellFormed, before, after)
		_, err := readCases(fstest.MapFS{"x/007-a-case.txtar": {Data: []byte(text)}})
		if want == "" {
			require.NoError(t, err, change)
			continue
		}
		require.ErrorContains(t, err, want, change)
		require.ErrorAs(t, err, new(*SyntaxError))
	}

	noClients := wellFormed[:strings.Index(wellFormed, "# Passes")] + "\nrun mirror\n"
	_, err := readCases(fstest.MapFS{"007-a-case.txtar": {Data: []byte(noClients)}})
	require.ErrorContains(t, err, "expected a client that is known to pass or fail, found none")
	_, err = readCases(fstest.MapFS{"a/007-a-case.txtar": {Data: []byte(wellFormed)}, "b/007-a-case.txtar": {Data: []byte(wellFormed)}})
	require.ErrorContains(t, err, "b/007-a-case.txtar:1: expected each case once, found a-case twice")
	_, err = readCases(fstest.MapFS{})
	require.ErrorContains(t, err, "there is no file")
}

// Catalogue returns copies.
func TestCatalogueReturnsCopies(t *testing.T) {
	first := Catalogue()
	require.Greater(t, len(first), 5)
	first[0].Sources[0], first[0].Passes[0], first[0].Fails["me"] = "gone", "gone", "gone"
	again := Catalogue()
	require.NotEqual(t, "gone", again[0].Sources[0])
	require.NotEqual(t, "gone", again[0].Passes[0])
	require.NotContains(t, again[0].Fails, "me")
	for _, c := range again {
		require.NotEmpty(t, c.Config(nil).Clients, c.Name)
	}
}

// idleClient does nothing.
func idleClient(ctx context.Context, _ *rest.Config) error { <-ctx.Done(); return nil }

// newCase returns a case with these steps.
func newCase(t *testing.T, steps string) Case {
	head, _, _ := strings.Cut(wellFormed, "\nrun ")
	c, err := parseCase("a.txtar", head+"\n"+steps)
	require.NoError(t, err)
	return c
}
