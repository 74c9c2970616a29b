package patch

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

func TestShape(t *testing.T) {
	for body, want := range map[string][2]int{
		`null`:                            {0, 0},
		`{}`:                              {1, 0},
		`{"a":1,"b":2,"c":3}`:             {1, 0},
		`[1,2,3]`:                         {1, 3},
		`{"a":[{"b":1,"c":[1,2]},2,3]}`:   {4, 3},
		`{"a":"[[[[{\"[","b":[",,,",2]}`:  {2, 2},
		`[[1,2],[1,2,3,4],{"a":1,"b":2}]`: {2, 4},
	} {
		depth, longest := shape([]byte(body))
		require.Equal(t, want, [2]int{depth, longest}, body)
	}
}

func TestPatchesThatTakeTooLong(t *testing.T) {
	list := func(n int) string { return `{"a":[` + strings.Repeat(`1,`, n-1) + `1]}` }
	deep := strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000)
	for _, tt := range []struct {
		kind    types.PatchType
		body    string
		refused bool
	}{
		{types.StrategicMergePatchType, list(maxElements), false},
		{types.StrategicMergePatchType, list(maxElements + 1), true},
		{types.MergePatchType, list(maxElements + 1), false},
		{types.MergePatchType, deep, true},
		{types.StrategicMergePatchType, deep, false},
	} {
		_, err := Parse(tt.kind, []byte(tt.body), false)
		require.Equal(t, tt.refused, apierrors.IsRequestEntityTooLargeError(err), "%s: %v", tt.kind, err)
	}
}
