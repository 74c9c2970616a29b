package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// manual returns the package comment of doc.go as text.
func manual(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	text, _, found := strings.Cut(string(source), "\npackage main\n")
	require.True(t, found)
	return regexp.MustCompile(`(?m)^// ?`).ReplaceAllString(text+"\n", "")
}

// synopsis returns the command forms at the beginning of the manual, each as one line.
func synopsis(manual string) (forms []string) {
	inside := false
	for line := range strings.Lines(manual) {
		words := strings.Join(strings.Fields(line), " ")
		switch {
		case !strings.HasPrefix(line, "\t"):
			if inside {
				return forms
			}
		case strings.HasPrefix(words, "fakeapi "):
			inside, forms = true, append(forms, words)
		case inside:
			forms[len(forms)-1] += " " + words
		}
	}
	return forms
}

// flagName matches flags in a text, flagLine those at the beginning of a line of help.
var (
	flagName = regexp.MustCompile(`(?:^|[\s\[(])(--?[a-z][a-z-]*)`)
	flagLine = regexp.MustCompile(`(?m)^  (--?[a-z-]+)`)
)

func namesIn(text string, pattern *regexp.Regexp) (names []string) {
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		names = append(names, match[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// The manual and help have the same command forms, in the same order and with the same words. The
// forms have all flags, and the manual has no other flags.
func TestManualAndHelpAgree(t *testing.T) {
	text := manual(t)
	var forms, all []string
	for _, c := range commandList() {
		shown := runCommand(t, "help", c.name).stdout
		head, _, _ := strings.Cut(shown, "\n\n")
		require.Equal(t, c.forms(), strings.Split(head, "\n"))
		require.Equal(t, namesIn(strings.Join(c.forms(), " "), flagName), namesIn(shown, flagLine), "flags in the forms of %s and in its help", c.name)
		forms = append(forms, c.forms()...)
		all = append(all, namesIn(shown, flagLine)...)
	}
	require.Equal(t, append(forms, "fakeapi help [COMMAND]"), synopsis(text))
	for _, name := range namesIn(text, flagName) {
		require.Contains(t, all, name, "doc.go has an unknown flag")
	}
}

// The help of a flag is a sentence and names the flag's argument.
func TestHelpExplainsFlags(t *testing.T) {
	for _, c := range commandList() {
		_, flags, _ := strings.Cut(runCommand(t, "help", c.name).stdout, c.summary+"\n")
		for entry := range strings.SplitSeq(strings.TrimSpace(flags), "\n\n") {
			if entry == "" { // version has no flags
				continue
			}
			head, text, _ := strings.Cut(entry, "\n\t")
			require.Greater(t, len(strings.Fields(text)), 3, entry)
			_, value, takes := strings.Cut(strings.TrimSpace(head), " ")
			if takes {
				require.Contains(t, text, value, entry)
			}
		}
	}
}

func TestSuggestions(t *testing.T) {
	known := []string{"serve", "run", "conformance", "version", "address", "q"}
	for word, want := range map[string]string{
		"sreve": "serve", "Serve": "serve", "conformence": "conformance", "adress": "address", "versions": "version",
		"rnu": "run", "x": "q", "": "q", "kubectl": "", "servers-of-mine": "",
	} {
		if want != "" {
			want = " (did you mean " + want + "?)"
		}
		require.Equal(t, want, suggest(word, known, strings.Clone), word)
	}
}
