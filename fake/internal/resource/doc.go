// Package resource knows what is served: the built-in types as data, a row for
// each resource in each version, and how to find a row from a path or a kind.
//
// A row (Resource) has what discovery says of the type (names, scope, verbs,
// subresources) and what the verbs must know of it: whether a PUT may create or
// overwrite, whether metadata.generation is kept, what DELETE answers, how names
// are checked and which fields can be selected by. The rows stand in a file for
// each group (core.go, apps.go, ...); adding a built-in type is adding a row.
//
// Served are the types that a v1.37 API server serves by default: the stable
// versions. Beta versions introduced since 1.24 are off by default (KEP-3136) and
// the older ones are gone. Left out are componentstatuses, and the types of
// apiregistration.k8s.io.
//
// Custom resources are rows, too (custom.go): CustomRows makes them of a definition, one
// for each version that is served, and Table.With adds them to those of the built-in
// types. Their Go type is unstructured.Unstructured, and what is asked of a type they ask
// their custom.Version. The definitions themselves are a row (apiextensions.go) with a
// scheme of its own.
//
// Two kinds of object are shown twice: events (in "" and in events.k8s.io) and
// horizontalpodautoscalers (in autoscaling/v1 and v2). They are kept once, in the
// form of StoreVersion; Convert turns them.
package resource
