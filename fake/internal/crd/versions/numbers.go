package versions

import (
	"math"
	"strconv"
)

// decodeNumbers replaces each number in an object by the one that decoding its JSON returns: JSON
// has 2 for a floating-point number of 2, which decodes to an integer. It does not replace the
// negative zero, whose JSON is -0, but reports whether there is any.
func decodeNumbers(obj map[string]any) (hasNegativeZero bool) {
	for key, value := range obj {
		if replaced, isReplaced := decodeNumber(value, &hasNegativeZero); isReplaced {
			obj[key] = replaced
		}
	}
	return hasNegativeZero
}

// decodeNumber is decodeNumbers for a value. It returns another value if value itself is a number
// to replace.
func decodeNumber(value any, hasNegativeZero *bool) (replaced int64, isReplaced bool) {
	switch value := value.(type) {
	case float64:
		if value == 0 && math.Signbit(value) {
			*hasNegativeZero = true
			return 0, false
		}
		return decodeFloat(value)
	case map[string]any:
		if decodeNumbers(value) {
			*hasNegativeZero = true
		}
	case []any:
		for i, item := range value {
			if replaced, isReplaced := decodeNumber(item, hasNegativeZero); isReplaced {
				value[i] = replaced
			}
		}
	}
	return 0, false
}

// decodeFloat returns the integer that the JSON of a floating-point number decodes to, if it is
// one. JSON has the shortest digits that identify the number, which are those of another integer if
// it is large. It has an exponent from 1e21 on, which is more than an int64.
func decodeFloat(value float64) (integer int64, isInteger bool) {
	const maxExact = 1 << 53
	switch {
	case value != math.Trunc(value):
		return 0, false
	case math.Abs(value) <= maxExact:
		return int64(value), true
	}
	integer, err := strconv.ParseInt(strconv.FormatFloat(value, 'f', -1, 64), 10, 64)
	return integer, err == nil
}
