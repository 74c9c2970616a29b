package fakeapi

import (
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"

	"example.com/fakeapi/fake/internal/admission"
)

// AdmissionFunc decides on a write, as an admission webhook does. It gets what a
// webhook gets: the object to be stored and the stored one as JSON in the version of
// the request, the operation, the options. Its answer allows the write or not, and may
// carry warnings, a Status for the refusal and, from a mutating function, a patch of
// type JSONPatch. A webhook handler of controller-runtime fits with one line around it.
//
// It runs outside of all locks and may send requests to the server. It may be called
// for several requests at a time, and again for the same one if somebody else wrote
// in between. A nil answer, or a panic, fails the request with 500.
type AdmissionFunc func(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

// Admission is a named function that has a say in writes; see WithAdmission. Make one
// with MutatingAdmission or ValidatingAdmission.
type Admission struct{ plugin admission.Plugin }

// MutatingAdmission is a function that may change the objects that are created and
// updated, by the patch of its answer, and refuse them. name is what refusals call it.
func MutatingAdmission(name string, review AdmissionFunc) Admission {
	return Admission{admission.Plugin{Name: name, Review: admission.Func(review), Mutates: true}}
}

// ValidatingAdmission is a function that may refuse what is created, updated and
// deleted, but not change it: a patch of its answer counts for nothing. name is what
// refusals call it.
func ValidatingAdmission(name string, review AdmissionFunc) Admission {
	return Admission{admission.Plugin{Name: name, Review: admission.Func(review)}}
}

// WithSideEffects declares that the function does more than answer. A dry run that
// would have to call it is refused (DR-07). Without the declaration it is called in dry
// runs too.
func (a Admission) WithSideEffects() Admission {
	a.plugin.SideEffects = true
	return a
}

// WithAdmission lets functions have a say in every create, update, patch, apply and
// delete that comes as a request, of objects and of their subresources: first those that
// mutate, then, when the server has done its own part, those that validate, each in the order
// given. Fixtures and what the server's controllers do pass them by. An option given
// twice adds to the first.
func WithAdmission(functions ...Admission) Option {
	return func(o *options) error {
		for _, f := range functions {
			switch {
			case f.plugin.Name == "":
				return errors.New("fakeapi: an admission function has no name")
			case f.plugin.Review == nil:
				return fmt.Errorf("fakeapi: admission function %q is nil", f.plugin.Name)
			}
			o.admission = append(o.admission, f.plugin)
		}
		return nil
	}
}
