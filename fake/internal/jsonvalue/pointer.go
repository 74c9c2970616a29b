package jsonvalue

import (
	"strconv"
	"strings"
)

// tokenEscapes decodes a token of a JSON pointer. It is never changed.
var tokenEscapes = strings.NewReplacer("~1", "/", "~0", "~")

// Token decodes a token of a JSON pointer (RFC 6901), which is what is between two slashes of it.
func Token(escaped string) string { return tokenEscapes.Replace(escaped) }

// Index returns the index that a token of a JSON pointer is in a list with n elements. It returns
// false if there is no such element, or if the number is not in its usual form.
func Index(token string, n int) (int, bool) {
	i, err := strconv.Atoi(token)
	return i, err == nil && i >= 0 && i < n && strconv.Itoa(i) == token
}
