// Package policy has the admission plugins ValidatingAdmissionPolicy and MutatingAdmissionPolicy.
//
// # What is the library's
//
// Policies are evaluated by k8s.io/apiserver: its dispatchers decide which policies and bindings
// select a write, find the parameters, evaluate the expressions within their cost limits, apply
// failurePolicy, validationActions and reinvocationPolicy, and make the errors, warnings and audit
// annotations. So are expressions compiled, patches applied and types checked by its packages.
//
// # What is not
//
// The plugins and the sources of the library read policies through informers, one second apart. In
// their place, source has the policies and bindings of the state that is in force (source.go). A
// write compares the records of that state with those of the last one, so that what is stored is in
// force for the next write, and what Restore removes is not. Policies are compiled when they are
// evaluated first, and again only if they have changed. Parameters and namespaces are read from the
// same state (params.go), and the schemas of apply configurations are those of server-side apply
// (types.go), which the library would parse from OpenAPI documents. The code that compiles policies
// is here because that of the library is not exported.
//
// The order of policies and of the bindings of one is by name, where that of a real server is
// random. All that the specification leaves to chance follows from it, such as which of several
// denials is returned.
//
// # Decisions
//
// The library does not say what a policy has decided. So its evaluators are wrapped (observe.go):
// a validating policy reports each expression that does not hold or fails, once for each action, or
// one decision that allows the write; a mutating policy reports each mutation with what it has
// changed. Decisions that a real server does not count in its metrics have no ErrorType.
package policy
