package faults

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SyntaxError is an error in the text of a rule.
type SyntaxError struct {
	// Line and Column count from 1. A column is a character, not a byte.
	Line, Column int
	// Message describes the error, usually as what was expected and what was found.
	Message string
}

// Error returns "fault rule, line 1, column 17: MESSAGE".
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("fault rule, line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// newSyntaxError returns the error for a byte offset of src.
func newSyntaxError(src string, pos int, format string, args ...any) *SyntaxError {
	before := src[:pos]
	start := strings.LastIndexByte(before, '\n') + 1
	return &SyntaxError{
		Line:    strings.Count(before, "\n") + 1,
		Column:  utf8.RuneCountInString(before[start:]) + 1,
		Message: fmt.Sprintf(format, args...),
	}
}

type tokenKind uint8

const (
	tokenEnd         tokenKind = iota
	tokenWord                  // text is the word
	tokenString                // text is the unquoted string
	tokenPunctuation           // text is one of ( ) , : ! && ||
)

type token struct {
	kind tokenKind
	text string
	pos  int // byte offset in the source
}

// String returns the token as it appears in messages.
func (t token) String() string {
	switch t.kind {
	case tokenEnd:
		return "the end"
	case tokenString:
		return strconv.Quote(t.text)
	}
	return `"` + t.text + `"`
}

// isPunctuation reports whether t is the given punctuation mark.
func (t token) isPunctuation(mark string) bool { return t.kind == tokenPunctuation && t.text == mark }

// lex splits src into tokens, of which the last one is tokenEnd.
func lex(src string) ([]token, error) {
	var tokens []token
	for pos := 0; pos < len(src); {
		switch rest := src[pos:]; rest[0] {
		case ' ', '\t', '\r', '\n':
			pos++
		case '#':
			line, _, _ := strings.Cut(rest, "\n")
			pos += len(line)
		default:
			t, size, err := lexToken(src, pos)
			if err != nil {
				return nil, err
			}
			tokens = append(tokens, t)
			pos += size
		}
	}
	return append(tokens, token{tokenEnd, "", len(src)}), nil
}

// lexToken returns the token at pos and its length in bytes.
func lexToken(src string, pos int) (token, int, error) {
	rest := src[pos:]
	for _, mark := range []string{"(", ")", ",", ":", "!", "&&", "||"} {
		if strings.HasPrefix(rest, mark) {
			return token{tokenPunctuation, mark, pos}, len(mark), nil
		}
	}
	if rest[0] == '"' {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return token{}, 0, newSyntaxError(src, pos, "expected a string that ends with a double quote on its line")
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			return token{}, 0, newSyntaxError(src, pos, "expected a quoted string: %v", err)
		}
		return token{tokenString, text, pos}, len(quoted), nil
	}
	size := strings.IndexFunc(rest, notInWord)
	if size < 0 {
		size = len(rest)
	}
	if size == 0 {
		r, _ := utf8.DecodeRuneInString(rest)
		return token{}, 0, newSyntaxError(src, pos, "unexpected %q; values with such characters go in double quotes", r)
	}
	return token{tokenWord, rest[:size], pos}, size, nil
}
