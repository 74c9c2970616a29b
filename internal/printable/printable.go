// Package printable makes text of servers and files safe to show: on a terminal, which control
// characters could command, and in reports, where characters without a shape could hide or reorder
// what is written. Words of command lines are quoted for the shell that they are copied to.
package printable

import (
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns s with the characters that have no shape as Go escapes, such as \x1b and \u202e:
// control and format characters, and bytes that are not UTF-8. Newlines and tabs are kept.
func Text(s string) string { return escape(s, "\n\t") }

// Line is like Text, but escapes newlines and tabs as well.
func Line(s string) string { return escape(s, "") }

// Word returns s if it has only letters, digits and the characters of versions and paths, and else
// the string in quotes with escapes, so that it cannot be mistaken for the words around it.
func Word(s string) string {
	if isPlain(s, "-+._~/:@") {
		return s
	}
	return strconv.Quote(s)
}

// ShellWord returns s if a shell reads it as one word that means itself, and else s in single
// quotes.
func ShellWord(s string) string {
	if isPlain(s, "_@%+=:,./-") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// isPlain reports whether s is not empty and has only ASCII letters and digits, and characters of
// others.
func isPlain(s, others string) bool {
	other := func(r rune) bool {
		return !(r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune(others, r))
	}
	return s != "" && !strings.ContainsFunc(s, other)
}

func escape(s, kept string) string {
	shown := func(r rune, size int) bool {
		return (unicode.IsGraphic(r) || strings.ContainsRune(kept, r)) && (r != utf8.RuneError || size > 1)
	}
	var b strings.Builder
	done := 0 // s[:done] is in b
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !shown(r, size) {
			quoted := strconv.Quote(s[i : i+size])
			b.WriteString(s[done:i])
			b.WriteString(quoted[1 : len(quoted)-1])
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}

// NewWriter returns a writer that writes what it receives to w as Text.
func NewWriter(w io.Writer) io.Writer { return writer{w} }

type writer struct{ to io.Writer }

// Write implements io.Writer. A character that is split between two writes is escaped.
func (w writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
