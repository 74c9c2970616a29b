package faults

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rules are separated by line ends and by semicolons outside quotes and comments.
func TestParseText(t *testing.T) {
	rules, err := ParseText("a: when verb(list) do status(429);b: when verb(watch) do inject(\"x;\\\";#\")  ; # c; when\n\n;; \nwhen always do delay(1s)")
	require.NoError(t, err)
	var lines []string
	for _, r := range rules {
		lines = append(lines, r.String())
	}
	require.Equal(t, []string{"a: when verb(list) do status(429)", `b: when verb(watch) do inject("x;\";#")`, "when always do delay(1s)"}, lines)

	rules, err = ParseText(" \n# nothing\n;")
	require.NoError(t, err)
	require.Empty(t, rules)
}

// An error has the position in the whole text.
func TestParseTextErrors(t *testing.T) {
	for text, want := range map[string]string{
		"when vreb(get) do hang":                         "fault rule, line 1, column 6: unknown predicate",
		"# ä\nwhen name(\"ä;\") do hang; when x do hang": "fault rule, line 2, column 31: unknown predicate",
		"when always do hang;  when verb(get) do drop":   "fault rule, line 1, column 23: ",
		"when name(\"a; do hang":                         "fault rule, line 1, column 11: expected a string",
		"when always do hang when":                       "fault rule, line 1, column 21: expected",
	} {
		_, err := ParseText(text)
		require.ErrorAs(t, err, new(*SyntaxError), text)
		require.ErrorContains(t, err, want)
	}
}

// A value is rules, or else the path of a file.
func TestReadRules(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	const rule = "when verb(list) do status(429)"
	path := write("some (1).rules", "# list\n"+rule+"\n")
	for text, count := range map[string]int{"": 0, "  ": 0, rule: 1, rule + ";" + rule: 2, path: 1, "some (1).rules": 1, " " + path + "\n": 1} {
		rules, err := ReadRules(text, dir)
		require.NoError(t, err, text)
		require.Len(t, rules, count, text)
	}

	write("empty", "# nothing\n")
	write("wrong", rule+"\nwhen x do hang\n")
	write("large", strings.Repeat("#\n", maxRulesFile))
	for text, want := range map[string]string{
		"when x do hang":             "fault rule, line 1, column 6: ",
		strings.Repeat("long ", 9e3): "fault rule, line 1, column 1: ",
		"missing.rules":              "missing.rules: it is no fault rule, and as a file: no such file or directory",
		dir:                          "is a directory",
		"empty":                      "empty: it contains no fault rule",
		"wrong":                      "wrong: fault rule, line 2, column 6: ",
		"large":                      "large: it is no fault rule, and as a file: it has more than 1048576 bytes",
		"a\x00b c":                   "fault rule, line 1, column 2: ",
	} {
		_, err := ReadRules(text, dir)
		require.ErrorContains(t, err, want)
	}
}
