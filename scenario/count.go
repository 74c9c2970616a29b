package scenario

import (
	"fmt"
	"strconv"
	"strings"
)

// Count is an expected number. [Exactly], [AtLeast] and [AtMost] return one. The zero value is
// exactly 0.
type Count struct {
	bound string // "", atLeast or atMost
	n     int
}

// Prefixes of the number.
const (
	atLeast = ">="
	atMost  = "<="
)

// Exactly returns a Count of n, written "N".
func Exactly(n int) Count { return Count{"", n} }

// AtLeast returns a Count of n or more, written ">=N".
func AtLeast(n int) Count { return Count{atLeast, n} }

// AtMost returns a Count of n or fewer, written "<=N".
func AtMost(n int) Count { return Count{atMost, n} }

// String returns "N", ">=N" or "<=N".
func (c Count) String() string { return c.bound + strconv.Itoa(c.n) }

func (c Count) matches(n int) bool {
	switch c.bound {
	case atLeast:
		return n >= c.n
	case atMost:
		return n <= c.n
	}
	return n == c.n
}

// parseCount parses N, >=N or <=N.
func parseCount(text string) (Count, error) {
	var c Count
	digits := text
	for _, bound := range []string{atLeast, atMost} {
		if rest, ok := strings.CutPrefix(text, bound); ok {
			c.bound, digits = bound, rest
		}
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return c, fmt.Errorf("expected a number, or one after >= or <=, found %q", text)
	}
	c.n = int(n)
	return c, nil
}
