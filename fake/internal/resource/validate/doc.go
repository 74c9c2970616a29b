// Package validate has what the validation of built-in types has in common: paths of fields that
// cost nothing while there is no error, and checks of labels, selectors, names and numbers with the
// texts of a kube-apiserver.
//
// The functions follow those of apimachinery: they return a field.ErrorList, which is nil for a
// valid value. They do not allocate for valid values, so that most writes pay for the comparisons
// only. For that a Path is a chain of values on the stack, where a field.Path is a chain of
// allocations. It stays there as long as no function value and no interface method receives it.
package validate
