package faults

import (
	"strconv"
	"strings"
)

// callText returns the text of a predicate or effect: name(arg, arg), or name if there are no
// arguments.
func callText(name string, args ...string) string {
	if len(args) == 0 {
		return name
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// quote returns the text of a value: unchanged if it is a word, otherwise quoted as a Go string.
func quote(s string) string {
	if s != "" && strings.IndexFunc(s, notInWord) < 0 {
		return s
	}
	return strconv.Quote(s)
}

func quoteAll(values []string) []string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = quote(v)
	}
	return quoted
}

// notInWord reports whether values with the character must be quoted.
func notInWord(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("_-./*+", r)
}
