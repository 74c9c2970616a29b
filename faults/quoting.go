package faults

import (
	"strconv"
	"strings"
)

// callText prints a predicate or effect: name(arg, arg), or name without any.
func callText(name string, args ...string) string {
	if len(args) == 0 {
		return name
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// quote prints a value: as it is if it is a word, else in double quotes, as Go
// quotes strings.
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

// notInWord tells the characters that a value must be quoted for.
func notInWord(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("_-./*+", r)
}
