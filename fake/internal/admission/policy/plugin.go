// Package policy is being written.
package policy

import "example.com/fakeapi/fake/internal/admission"

type none struct{}

func (none) Name() string                       { return "" }
func (none) Handles(*admission.Attributes) bool { return false }

func NewMutating(admission.Dynamic) admission.Interface   { return none{} }
func NewValidating(admission.Dynamic) admission.Interface { return none{} }
