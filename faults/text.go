package faults

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"
)

// ParseText parses rules that are separated by line ends or semicolons, and validates each of them.
// Blank lines and comments, which start with a "#" outside quotes and end with the line, are
// skipped. All errors are of type [*SyntaxError]: that of a rule that does not pass [Rule.Validate]
// has the position at which the rule begins.
func ParseText(text string) ([]Rule, error) {
	var rules []Rule
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		for start := 0; start <= len(line); {
			end := start + segmentLength(line[start:])
			rule, err := parseSegment(line[start:end])
			if err != nil {
				err.Line, err.Column = number, err.Column+utf8.RuneCountInString(line[:start])
				return nil, err
			}
			rules = append(rules, rule...)
			start = end + 1
		}
	}
	return rules, nil
}

// segmentLength returns the number of bytes of a line up to a semicolon outside quotes and
// comments.
func segmentLength(line string) int {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ';':
			return i
		case '#':
			return len(line)
		case '"':
			quoted, err := strconv.QuotedPrefix(line[i:])
			if err != nil { // an error of the parser
				return len(line)
			}
			i += len(quoted) - 1
		}
	}
	return len(line)
}

// parseSegment parses and validates at most one rule.
func parseSegment(text string) ([]Rule, *SyntaxError) {
	rules, err := ParseAll(text)
	if at, ok := errors.AsType[*SyntaxError](err); ok {
		return nil, at
	}
	for _, r := range rules {
		if _, err := r.activePhases(); err != nil {
			indent := len(text) - len(strings.TrimLeft(text, " \t\r"))
			return nil, newSyntaxError(text, indent, "%v", err)
		}
	}
	return rules, nil
}

// maxRulesFile is the maximum size of a file of rules in bytes.
const maxRulesFile = 1 << 20

// ReadRules returns the rules of a value such as that of the environment variable FAKEAPI_FAULTS:
// rules, as [ParseText] accepts them, or the path of a file of at most 1 MiB with such rules. A
// relative path starts at dir, or if dir is empty at the working directory. Text that is neither a
// rule nor a path of a file, and a file without rules, are errors. There are no rules in an empty
// text.
func ReadRules(text, dir string) ([]Rule, error) {
	rules, err := ParseText(text)
	if err == nil {
		return rules, nil
	}
	path := strings.TrimSpace(text)
	content, fileErr := readRulesFile(path, dir)
	switch {
	case errors.Is(fileErr, fs.ErrNotExist) && !isWord(path), isNoPath(fileErr):
		return nil, err
	case fileErr != nil:
		return nil, fmt.Errorf("%s: it is no fault rule, and as a file: %w", path, fileErr)
	}
	rules, err = ParseText(string(content))
	if err == nil && len(rules) == 0 {
		err = errors.New("it contains no fault rule")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rules, nil
}

// isWord reports whether text could be a path but no rule: it has neither spaces nor parentheses.
func isWord(text string) bool { return !strings.ContainsAny(text, " \t\r\n()") }

// isNoPath reports whether an error says that a text cannot be the path of a file.
func isNoPath(err error) bool {
	return errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.EINVAL)
}

// readRulesFile reads a file. Its errors do not have the path.
func readRulesFile(path, dir string) ([]byte, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	content, err := func() ([]byte, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // it was only read
		return io.ReadAll(io.LimitReader(f, maxRulesFile+1))
	}()
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, e.Err
	}
	if err == nil && len(content) > maxRulesFile {
		err = fmt.Errorf("it has more than %d bytes", maxRulesFile)
	}
	return content, err
}
