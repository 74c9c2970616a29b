package printable_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/internal/printable"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"plain: é 日本 👍\u00a0\ufffd": "plain: é 日本 👍\u00a0\ufffd",
		"two\n\tlines \"\\x1b\"":    "two\n\tlines \"\\x1b\"",
		"\x1b[31mred\x1b]0;title\a": `\x1b[31mred\x1b]0;title\a`,
		"back\rover\b\x00\x7f":      `back\rover\b\x00\x7f`,
		"c1 \u009b2J":               `c1 \u009b2J`,
		"bidi \u202edetrever":       `bidi \u202edetrever`,
		"hidden\u200bspace\u2028":   `hidden\u200bspace\u2028`,
		"bytes \xff\xc3":            `bytes \xff\xc3`,
	} {
		require.Equal(t, want, printable.Text(text))
		require.Equal(t, strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(want), printable.Line(text))
		var b strings.Builder
		n, err := fmt.Fprint(printable.NewWriter(&b), text)
		require.NoError(t, err)
		require.Equal(t, len(text), n)
		require.Equal(t, want, b.String())
	}
}

func TestWord(t *testing.T) {
	for text, want := range map[string]string{
		"v1.37.2-alpha.0.12+0123": "v1.37.2-alpha.0.12+0123", "https://127.0.0.1:6443/a_b~c@d": "https://127.0.0.1:6443/a_b~c@d",
		"": `""`, "v1, 9 passed": `"v1, 9 passed"`, "v1\n## h": `"v1\n## h"`, "é\x1b": `"é\x1b"`, "\xff": `"\xff"`, "a|`b`": "\"a|`b`\"",
	} {
		require.Equal(t, want, printable.Word(text))
	}
}

// A character that is split between two writes cannot become a control character.
func TestWriterOfSplitCharacters(t *testing.T) {
	var b strings.Builder
	w := printable.NewWriter(&b)
	for _, one := range []byte("\u009b2J") {
		_, err := w.Write([]byte{one})
		require.NoError(t, err)
	}
	require.Equal(t, `\xc2\x9b2J`, b.String())
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestWriterReturnsErrors(t *testing.T) {
	n, err := printable.NewWriter(failingWriter{}).Write([]byte("a"))
	require.Zero(t, n)
	require.EqualError(t, err, "closed")
}

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"a/b-c_1.yaml": "a/b-c_1.yaml",
		"a b":          "'a b'",
		"it's":         `'it'\''s'`,
		"$HOME":        "'$HOME'",
		"":             "''",
	} {
		require.Equal(t, want, printable.ShellWord(word))
	}
}
