package structural

import (
	"fmt"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// validateBranches validates a value by anyOf, oneOf, allOf and not, as the library does, but in
// linear time. The errors are in the result.
func (n *nodeValidator) validateBranches(value any) *validate.Result {
	result := &validate.Result{}
	n.validateAnyOf(value, result)
	n.validateOneOf(value, result)
	n.validateAllOf(value, result)
	if n.schema.Not != nil && n.validateBranch(n.schema.Not, value).IsValid() {
		addError(result, "%q must not validate the schema (not)", n.path)
	}
	return result
}

// validateBranch validates a value by one schema of a branch. An error is one in equal values, too.
func (n *nodeValidator) validateBranch(schema *spec.Schema, value any) *validate.Result {
	run := newValidationRun(n.run.ctx, n.run.limit)
	result := run.node(schema, n.root, n.path, nil).Validate(value)
	run.removeDuplicates()
	result.Errors = run.errs
	return result
}

func (n *nodeValidator) validateAnyOf(value any, result *validate.Result) {
	var best *validate.Result
	for i := range n.schema.AnyOf {
		branch := n.validateBranch(&n.schema.AnyOf[i], value)
		if branch.IsValid() {
			merge(result, branch)
			return
		}
		if best == nil || branch.MatchCount > best.MatchCount {
			best = branch
		}
	}
	if best != nil {
		addError(result, "%q must validate at least one schema (anyOf)", n.path)
		merge(result, best)
	}
}

func (n *nodeValidator) validateOneOf(value any, result *validate.Result) {
	if len(n.schema.OneOf) == 0 {
		return
	}
	var best, success *validate.Result // best is that with the most matches of those that failed
	valid := 0
	for i := range n.schema.OneOf {
		branch := n.validateBranch(&n.schema.OneOf[i], value)
		switch {
		case branch.IsValid():
			valid++
			if success == nil {
				success = branch
			}
		case best == nil || branch.MatchCount > best.MatchCount:
			best = branch
		}
	}
	switch valid {
	case 0:
		addError(result, "%q must validate one and only one schema (oneOf). Found none valid", n.path)
		merge(result, best)
	case 1:
		merge(result, success)
	default:
		addError(result, "%q must validate one and only one schema (oneOf). Found %d valid alternatives", n.path, valid)
	}
}

func (n *nodeValidator) validateAllOf(value any, result *validate.Result) {
	valid := 0
	for i := range n.schema.AllOf {
		branch := n.validateBranch(&n.schema.AllOf[i], value)
		if branch.IsValid() {
			valid++
		}
		merge(result, branch)
	}
	switch {
	case valid == len(n.schema.AllOf):
	case valid == 0:
		addError(result, "%q must validate all the schemas (allOf). None validated", n.path)
	default:
		addError(result, "%q must validate all the schemas (allOf)", n.path)
	}
}

// merge adds the errors and matches of a branch to a result. Errors that are in both are removed
// later.
func merge(result, branch *validate.Result) {
	result.Errors = append(result.Errors, branch.Errors...)
	result.MatchCount += branch.MatchCount
}

func addError(result *validate.Result, format string, args ...any) {
	result.Errors = append(result.Errors, fmt.Errorf(format, args...))
}
