package scenario

import (
	"context"
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Expect expects that an object exists and compares some of its fields.
func Expect(ref Ref, fields ...Field) Step { return expect{ref, cloneSlice(fields)} }

type expect struct {
	ref    Ref
	fields []Field
}

func (kinds) Expect() stepKind {
	return stepKind{"expect KIND/NAME [-n NAMESPACE] [PATH=VALUE ...]", parseExpect}
}

func parseExpect(a *args) (Step, error) {
	ref, words, err := parseRefAndWords(a)
	if err != nil {
		return nil, err
	}
	s := expect{ref: ref}
	for _, w := range words {
		f, err := parseField(w)
		if err != nil {
			return nil, err
		}
		s.fields = append(s.fields, f)
	}
	return s, nil
}

func (s expect) String() string {
	words := []string{"expect", s.ref.String()}
	for _, f := range s.fields {
		words = append(words, f.String())
	}
	return strings.Join(words, " ")
}

func (s expect) Run(ctx context.Context, e *Env) error {
	object, err := get(ctx, e, s.ref)
	if apierrors.IsNotFound(err) {
		return mismatch{s.ref.Kind + "/" + s.ref.Name, "none"}
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range s.fields {
		errs = append(errs, f.check(object.Object))
	}
	return errors.Join(errs...)
}

func (s expect) simplifications() []Step {
	var steps []Step
	for i := range s.fields {
		steps = append(steps, Expect(s.ref, slices.Concat(s.fields[:i], s.fields[i+1:])...))
	}
	return steps
}

// ExpectAbsent expects that an object does not exist.
func ExpectAbsent(ref Ref) Step { return expectAbsent{ref} }

type expectAbsent struct{ ref Ref }

func (kinds) ExpectAbsent() stepKind {
	return stepKind{"expect absent KIND/NAME [-n NAMESPACE]", parseExpectAbsent}
}

func parseExpectAbsent(a *args) (Step, error) {
	ref, err := parseRefOnly(a)
	return expectAbsent{ref}, err
}

func (s expectAbsent) String() string { return "expect absent " + s.ref.String() }

func (s expectAbsent) Run(ctx context.Context, e *Env) error {
	object, err := get(ctx, e, s.ref)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	saw := "one with resourceVersion " + object.GetResourceVersion()
	if at := object.GetDeletionTimestamp(); at != nil {
		saw += ", which is being deleted; finalizers: " + listOrNone(object.GetFinalizers())
	}
	return mismatch{"no " + s.ref.Kind + "/" + s.ref.Name, saw}
}

func get(ctx context.Context, e *Env, ref Ref) (*unstructured.Unstructured, error) {
	ctx, cancel := e.withRequestTimeout(ctx)
	defer cancel()
	resource, err := e.resource(ref.Kind, ref.Namespace)
	if err != nil {
		return nil, err
	}
	object, err := resource.Get(ctx, ref.Name, metav1.GetOptions{})
	return object, requestError(ctx, err)
}
