package structural

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// maxErrors is the maximum number of errors of one validation by a schema. A real server, whose
// running time grows with the square of their number, takes about ten seconds for as many, and for
// some more of them longer than a request may take.
const maxErrors = 10_000

// validator validates values by an OpenAPI schema, with the errors of package validation of
// apiextensions-apiserver. The library compares each error with all others at each level of the
// value. validator lets the library validate each value without what it contains, and collects the
// errors in linear time.
type validator struct {
	schema  *spec.Schema
	checker *checker
}

// newValidator returns the validator of a schema. props may be nil.
func newValidator(props *apiextensions.JSONSchemaProps) (*validator, error) {
	_, schema, err := validation.NewSchemaValidator(props)
	if err != nil {
		return nil, fmt.Errorf("compiling the schema: %w", err)
	}
	return &validator{schema, newChecker(schema)}, nil
}

// validate returns the errors of a value. correlated pairs it with the value that it replaces,
// whose errors are not errors of an equal value; it may be nil. The result has at most limit
// errors, and then another one that says so. The validation ends when ctx does.
func (v *validator) validate(ctx context.Context, path *field.Path, value any, correlated *common.CorrelatedObject, limit int) field.ErrorList {
	run := newValidationRun(ctx, limit)
	run.node(v.schema, v.schema, "", correlated).Validate(value)
	run.removeDuplicates()
	errs := validation.ValidateCustomResource(path, value, collected(run.errs))
	if len(run.errs) >= limit {
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, fmt.Sprintf("has too many errors; only %d of them are listed", len(run.errs))))
	}
	return errs
}

// isValid reports whether a value has no errors.
func (v *validator) isValid(ctx context.Context, value any) bool {
	if v.checker.accepts(value) {
		return true
	}
	run := newValidationRun(ctx, 1)
	run.node(v.schema, v.schema, "", nil).Validate(value)
	return len(run.errs) == 0
}

// collected are the errors of a finished validation, as a validator that returns them.
type collected []error

// Validate implements validation.SchemaCreateValidator.
func (c collected) Validate(any, ...validation.ValidationOption) *validate.Result {
	return &validate.Result{Errors: c}
}

// validationRun collects the errors of one validation.
type validationRun struct {
	ctx   context.Context
	limit int
	errs  []error
}

func newValidationRun(ctx context.Context, limit int) *validationRun {
	return &validationRun{ctx: ctx, limit: limit}
}

// isOver reports whether the remaining values are not validated.
func (r *validationRun) isOver() bool { return len(r.errs) >= r.limit || r.ctx.Err() != nil }

// removeDuplicates keeps the first of the errors with equal texts.
func (r *validationRun) removeDuplicates() {
	seen := make(map[string]bool, len(r.errs))
	r.errs = slices.DeleteFunc(r.errs, func(err error) bool {
		text := err.Error()
		duplicate := seen[text]
		seen[text] = true
		return duplicate
	})
}

// node returns the validator of a value in the run. path is its path in the text of errors.
func (r *validationRun) node(schema *spec.Schema, root any, path string, correlated *common.CorrelatedObject) *nodeValidator {
	return &nodeValidator{run: r, schema: schema, root: root, path: path, correlated: correlated}
}

// nodeValidator validates one value. It adds its errors and those of what it contains to the run,
// and not to the result, of which only the MatchCount is used.
type nodeValidator struct {
	run        *validationRun
	schema     *spec.Schema
	root       any
	path       string
	correlated *common.CorrelatedObject
	// object is the validator of the object that has the value in the field name. It is nil if no
	// object has it, or for a value in a branch.
	object *nodeValidator
	name   string
	fields []fieldErrors
}

// fieldErrors are the errors of a field of an object, as a range of those of the run.
type fieldErrors struct {
	name       string
	begin, end int
}

// SetPath implements validate.ValueValidator. The library does not call it.
func (n *nodeValidator) SetPath(path string) { n.path = path }

// Applies implements validate.ValueValidator. The library does not call it.
func (n *nodeValidator) Applies(any, reflect.Kind) bool { return true }

// Validate implements validate.ValueValidator. Errors of an unchanged value are dropped.
func (n *nodeValidator) Validate(value any) *validate.Result {
	if n.run.isOver() {
		return &validate.Result{}
	}
	begin := len(n.run.errs)
	schema := n.schema
	hasBranches := len(schema.AnyOf)+len(schema.OneOf)+len(schema.AllOf) > 0 || schema.Not != nil
	if hasBranches {
		plain := *schema
		plain.AnyOf, plain.OneOf, plain.AllOf, plain.Not = nil, nil, nil, nil
		schema = &plain
	}
	result := validate.NewSchemaValidator(schema, n.root, n.path, strfmt.Default, n.setChildValidators).Validate(value)
	errs := result.Errors
	at := countTypeErrors(errs)
	if hasBranches && value != nil {
		branches := n.validateBranches(value)
		// The library validates the type before the branches.
		errs = slices.Insert(errs, at, branches.Errors...)
		at += len(branches.Errors)
		result.MatchCount += branches.MatchCount
	}
	// The library validates items before the number of them, and fields before those that are missing.
	if _, isList := value.([]any); !isList {
		at += indexOfRequired(errs[at:])
	}
	n.sortFields(begin)
	n.run.errs = append(slices.Insert(n.run.errs, begin, errs[:at]...), errs[at:]...)
	if len(n.run.errs) > begin && n.correlated.CachedDeepEqual() {
		n.run.errs = n.run.errs[:begin]
	}
	if end := len(n.run.errs); n.object != nil && end > begin {
		n.object.fields = append(n.object.fields, fieldErrors{n.name, begin, end})
	}
	return &validate.Result{MatchCount: result.MatchCount}
}

// countTypeErrors returns 1 if the first error is that of a wrong type, or else 0.
func countTypeErrors(errs []error) int {
	if len(errs) > 0 {
		if err, ok := errs[0].(*openapierrors.Validation); ok && err.Code() == openapierrors.InvalidTypeCode {
			return 1
		}
	}
	return 0
}

// indexOfRequired returns the index of the first error of a missing field, or the number of errors.
func indexOfRequired(errs []error) int {
	for i, err := range errs {
		if err, ok := err.(*openapierrors.Validation); ok && err.Code() == openapierrors.RequiredFailCode {
			return i
		}
	}
	return len(errs)
}

// sortFields sorts the errors of the run from begin on by the field of the object that has them.
// The library iterates over a map, so that their order is random.
func (n *nodeValidator) sortFields(begin int) {
	if len(n.fields) < 2 {
		return
	}
	slices.SortFunc(n.fields, func(a, b fieldErrors) int { return strings.Compare(a.name, b.name) })
	sorted := make([]error, 0, len(n.run.errs)-begin)
	for _, f := range n.fields {
		sorted = append(sorted, n.run.errs[f.begin:f.end]...)
	}
	copy(n.run.errs[begin:], sorted)
}

// setChildValidators makes the library validate what the value contains by other validators of
// this type.
func (n *nodeValidator) setChildValidators(options *validate.SchemaValidatorOptions) {
	options.NewValidatorForField = func(name string, schema *spec.Schema, root any, path string, _ strfmt.Registry, _ ...validate.Option) validate.ValueValidator {
		var correlated *common.CorrelatedObject
		if n.path != "" || name != "kind" && name != "apiVersion" { // their changes are not visible
			correlated = n.correlated.Key(name)
		}
		child := n.run.node(schema, root, path, correlated)
		child.object, child.name = n, name
		return child
	}
	options.NewValidatorForIndex = func(i int, schema *spec.Schema, root any, path string, _ strfmt.Registry, _ ...validate.Option) validate.ValueValidator {
		return n.run.node(schema, root, path, n.correlated.Index(i))
	}
}
