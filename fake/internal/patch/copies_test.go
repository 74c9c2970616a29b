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

// copies is a patch that copies a value so many times to the same place.
func copies(n int, from string) []byte {
	one := fmt.Sprintf(`{"op":"copy","from":%q,"path":"/data/copied"}`, from)
	return []byte("[" + strings.Repeat(one+",", n-1) + one + "]")
}

func TestCopiesAreLimited(t *testing.T) {
	const half = 1 << 19
	obj := &corev1.ConfigMap{Data: map[string]string{"a/b~c": strings.Repeat("x", half-len(`""`))}}
	for n, refused := range map[int]bool{1: false, 6: false, 7: true} {
		p, err := Parse(types.JSONPatchType, copies(n, "/data/a~1b~0c"), true)
		require.NoError(t, err)
		_, err = p.Apply(obj)
		if !refused {
			require.NoError(t, err, "%d copies", n)
			continue
		}
		var status apierrors.APIStatus
		require.ErrorAs(t, err, &status)
		require.EqualValues(t, http.StatusUnprocessableEntity, status.Status().Code)
	}
}

// TestCountedCopiesGiveTheSame holds that counting changes nothing about a patch, neither its result nor its error.
func TestCountedCopiesGiveTheSame(t *testing.T) {
	obj := &corev1.ConfigMap{Data: map[string]string{"k": "<v>"}}
	obj.Finalizers = []string{"one", "two"}
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
		require.True(t, p.mightOverflow(len(current)))
		want, wantErr := p.operations.Apply(current)
		got, gotErr := p.operate(current)
		require.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(gotErr), last)
		require.Equal(t, string(want), string(got), last)
	}
}
