package versions

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"
)

// An object has the numbers that its JSON decodes to.
func TestDecodeNumbers(t *testing.T) {
	for _, n := range []float64{
		0, 1, -1, 2.5, 1e3, 1e-7, 1e20, 1e21, 1e300, 1 << 53, 1<<53 + 2, 1 << 62, 1 << 63, -1 << 63, -1 << 64,
		math.Nextafter(1<<63, 0), math.Nextafter(-1<<63, 0), math.Nextafter(-1<<63, -math.MaxFloat64), 5e-324,
	} {
		obj := map[string]any{"a": n, "s": "2.0", "i": int64(7), "n": nil, "l": []any{n, map[string]any{"deep": []any{n}}}}
		data, err := json.Marshal(obj)
		require.NoError(t, err)
		var decoded map[string]any
		require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(data, &decoded))
		require.False(t, decodeNumbers(obj))
		require.Equal(t, decoded, obj)
	}
	negativeZero := math.Copysign(0, -1)
	for _, obj := range []map[string]any{
		{"a": negativeZero}, {"a": []any{negativeZero, 2.0}}, {"a": map[string]any{"b": negativeZero}},
	} {
		require.True(t, decodeNumbers(obj), obj)
	}
}
