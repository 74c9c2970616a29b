package rest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"example.com/fakeapi/fake/internal/resource/builtin"
)

func withOwners(owners, controllers int) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default", ResourceVersion: "1"}}
	for i := range owners {
		cm.OwnerReferences = append(cm.OwnerReferences, metav1.OwnerReference{
			APIVersion: "v1", Kind: "ConfigMap", Name: fmt.Sprint("o", i), UID: "u", Controller: ptr.To(i < controllers),
		})
	}
	return cm
}

// Owner references of which many are controllers are refused before the errors are made, each of
// which contains all references.
func TestControllersAreBounded(t *testing.T) {
	res := builtin.Table().Lookup("", "v1", "configmaps")
	for _, tt := range []struct {
		owners, controllers int
		isValid, isTooLarge bool
	}{
		{3, 2, false, false},
		{50_000, 1, true, false},
		{50_000, 3, false, true},
		{50_000, 50_000, false, true},
	} {
		obj := withOwners(tt.owners, tt.controllers)
		for _, err := range []error{
			ValidateCreate(t.Context(), res, obj),
			ValidateUpdate(t.Context(), res, nil, obj, withOwners(0, 0)),
		} {
			require.Equal(t, tt.isValid, err == nil, tt)
			require.Equal(t, tt.isTooLarge, apierrors.IsRequestEntityTooLargeError(err), tt)
		}
	}
}

func TestEqualSets(t *testing.T) {
	for _, tt := range []struct {
		a, b  []string
		equal bool
	}{
		{nil, nil, true},
		{[]string{"a"}, nil, false},
		{nil, []string{"a"}, false},
		{[]string{"a", "b"}, []string{"b", "a"}, true},
		{[]string{"a", "b"}, []string{"a", "c"}, false},
		{[]string{"a", "a"}, []string{"a", "b"}, true},
	} {
		require.Equal(t, tt.equal, equalSets(tt.a, tt.b), tt)
	}
	var large []string
	for i := range 200_000 { // seconds for a search of one list in the other
		large = append(large, fmt.Sprint(i))
	}
	reversed := slices.Clone(large)
	slices.Reverse(reversed)
	require.True(t, equalSets(large, reversed))
}
