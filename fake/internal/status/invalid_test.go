package status

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// randomErrors returns up to size errors, of which some are equal, and of others only the texts.
func randomErrors(r *rand.Rand, size int) field.ErrorList {
	var errs field.ErrorList
	for range r.IntN(size + 1) {
		path := field.NewPath("spec").Child([]string{"a", "b"}[r.IntN(2)]).Index(r.IntN(3))
		switch r.IntN(6) {
		case 0:
			errs = append(errs, field.Required(path, ""))
		case 1:
			errs = append(errs, field.Invalid(path, r.IntN(2), "must be positive"))
		case 2:
			errs = append(errs, field.Invalid(path, fmt.Sprint(r.IntN(2)), "[a, b]"))
		case 3:
			errs = append(errs, field.NotSupported(path, "x", []string{"y", "z"}))
		case 4:
			errs = append(errs, field.Forbidden(nil, "not now"))
		default:
			err := *field.Invalid(path, 1, "must be positive").WithOrigin(fmt.Sprint(r.IntN(2))) // not in the text
			errs = append(errs, &err)
		}
	}
	return errs
}

// The text of errors and the Status that has it are those of apimachinery.
func TestFieldErrorsText(t *testing.T) {
	kind := schema.GroupKind{Group: "example.com", Kind: "Widget"}
	require.NoError(t, Invalid(kind, "a", nil))
	duplicates := 0
	for seed := range uint64(2000) {
		errs := randomErrors(rand.New(rand.NewPCG(seed, 0)), 12)
		if len(errs) == 0 {
			continue
		}
		aggregate := errs.ToAggregate()
		if len(aggregate.Errors()) < len(errs) {
			duplicates++
		}
		require.Equal(t, aggregate.Error(), FieldErrorsText(errs), seed)
		require.Equal(t, apierrors.NewInvalid(kind, "a", errs).Status(), statusOf(t, Invalid(kind, "a", errs)), seed)
	}
	require.Greater(t, duplicates, 100)
}

func statusOf(t *testing.T, err error) metav1.Status {
	var api apierrors.APIStatus
	require.ErrorAs(t, err, &api)
	return api.Status()
}

func TestInvalidName(t *testing.T) {
	require.NoError(t, InvalidName("a:b"))
	for name, want := range map[string]string{
		"":     "Name parameter required.",
		"..":   `Name parameter invalid: "..": may not be '..'`,
		"a/%b": `Name parameter invalid: "a/%b": may not contain '/';may not contain '%'`,
	} {
		err := InvalidName(name)
		require.EqualError(t, err, want)
		require.True(t, apierrors.IsBadRequest(err))
	}
}
