package patch

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

func TestMeasure(t *testing.T) {
	for body, want := range map[string][2]int{
		`null`:                            {0, 0},
		`{}`:                              {1, 0},
		`{"a":1,"b":2,"c":3}`:             {1, 0},
		`[1,2,3]`:                         {1, 3},
		`{"a":[{"b":1,"c":[1,2]},2,3]}`:   {4, 3},
		`{"a":"[[[[{\"[","b":[",,,",2]}`:  {2, 2},
		`[[1,2],[1,2,3,4],{"a":1,"b":2}]`: {2, 4},
	} {
		depth, longest := measure([]byte(body))
		require.Equal(t, want, [2]int{depth, longest}, body)
	}
}

func TestParseChecksLimits(t *testing.T) {
	list := func(n int) string { return `{"a":[` + strings.Repeat(`1,`, n-1) + `1]}` }
	deep := strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000)
	for _, tt := range []struct {
		kind     types.PatchType
		body     string
		tooLarge bool
	}{
		{types.StrategicMergePatchType, list(maxListElements), false},
		{types.StrategicMergePatchType, list(maxListElements + 1), true},
		{types.MergePatchType, list(maxListElements + 1), false},
		{types.MergePatchType, deep, true},
		{types.StrategicMergePatchType, deep, false},
	} {
		_, err := Parse(tt.kind, []byte(tt.body), false)
		require.Equal(t, tt.tooLarge, apierrors.IsRequestEntityTooLargeError(err), "%s: %v", tt.kind, err)
	}
}

// copyOperations returns a patch that copies a value n times to the same path.
func copyOperations(n int, from string) []byte {
	op := fmt.Sprintf(`{"op":"copy","from":%q,"path":"/data/copied"}`, from)
	return []byte("[" + strings.Repeat(op+",", n-1) + op + "]")
}

func TestCopyLimit(t *testing.T) {
	const half = 1 << 19
	obj := &corev1.ConfigMap{Data: map[string]string{"a/b~c": strings.Repeat("x", half-len(`""`))}}
	for n, exceeded := range map[int]bool{1: false, 6: false, 7: true} {
		p, err := Parse(types.JSONPatchType, copyOperations(n, "/data/a~1b~0c"), true)
		require.NoError(t, err)
		_, err = p.Apply(obj)
		if !exceeded {
			require.NoError(t, err, "%d copies", n)
			continue
		}
		var status apierrors.APIStatus
		require.ErrorAs(t, err, &status)
		require.EqualValues(t, http.StatusUnprocessableEntity, status.Status().Code)
	}
}

// TestCopiedBytesKeepsResult checks that counting the copied bytes changes neither the result nor
// the error of a patch.
func TestCopiedBytesKeepsResult(t *testing.T) {
	const doubling = `{"op":"copy","from":"/metadata/finalizers/1","path":"/metadata/finalizers/-"}`
	many := strings.Repeat(doubling+",", 20)
	for _, last := range []string{
		`{"op":"test","path":"/data/k","value":"<v>"}`,
		`{"op":"copy","from":"/data","path":"/metadata/annotations"}`,
		`{"op":"copy","from":"/data/absent","path":"/data/x"}`,
		`{"op":"copy","from":"/metadata/finalizers/99","path":"/data/x"}`,
		`{"op":"copy","from":"/metadata/finalizers/x","path":"/data/x"}`,
		`{"op":"copy","from":"nowhere","path":"/data/x"}`,
		`{"op":"copy","path":"/data/x"}`,
		`{"op":"remove","path":"/data/absent"}`,
	} {
		p, err := Parse(types.JSONPatchType, []byte("["+many+last+"]"), false)
		require.NoError(t, err)
		current := []byte(`{"metadata":{"finalizers":["one","two"]},"data":{"k":"<v>"}}`)
		require.True(t, p.mayExceedCopyLimit(len(current)))
		want, wantErr := p.operations.Apply(current)
		got, gotErr := p.applyOperations(current)
		require.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(gotErr), last)
		require.Equal(t, string(want), string(got), last)
	}
}
