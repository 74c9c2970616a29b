// Package builtin has the built-in types: those that a v1.37 kube-apiserver serves by default.
// These are the stable versions; beta versions introduced since 1.24 are off by default (KEP-3136).
// componentstatuses and the types of apiregistration.k8s.io are not included.
//
// [Table] returns them as a resource.Table. Each API group has a file named after it (core.go,
// apps.go, resource_k8s_io.go, ...) with a function that returns its resources. The strategies of
// larger groups are beside it (core_strategy.go, core_validation.go, certificates_strategy.go,
// ...), and so are the conversions of types with two versions (events_conversion.go,
// autoscaling_conversion.go). To add a type, add a resource.Resource to the file of its group.
package builtin
