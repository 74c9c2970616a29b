package codec

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The length of a map is encoded in up to four bytes.
func TestAppendCBORMapWithPairs(t *testing.T) {
	pair, err := EncodeCBORStrings("k", "v")
	require.NoError(t, err)
	for _, n := range []int{0, 1, 22, 23, 24, 254, 255, 256, 65_534, 65_535, 65_536} {
		fields := make(map[string]any, n)
		for i := range n {
			fields[fmt.Sprint("f", i)] = nil
		}
		item, err := MarshalCBOR(fields)
		require.NoError(t, err)
		b, err := AppendCBORMapWithPairs(nil, pair, 1, item)
		require.NoError(t, err)
		got, err := UnmarshalCBORMap(b)
		require.NoError(t, err)
		require.Len(t, got, n+1)
		require.Equal(t, "v", got["k"])
	}
	for _, item := range []string{"", "\x80", "\xb8", "\xb9\x01", "\xba\x00\x01\x00", "\xbb\x00\x00\x00\x00\x00\x00\x00\x01", "\xbf\xff"} {
		_, err := AppendCBORMapWithPairs(nil, pair, 1, []byte(item))
		require.Error(t, err, "%x", item)
	}
}
