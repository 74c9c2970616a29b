// Package builtin has the built-in types: those that a v1.37 kube-apiserver serves by default.
// These are the stable versions; beta versions introduced since 1.24 are off by default (KEP-3136).
//
// [Table] returns them as a resource.Table. Each API group has a package named after it (core,
// apps, resourcek8sio, ...). Its file resources.go has the rows of the table. A type with defaults
// or a strategy has a file named after it (core/service.go), and a file for each other concern,
// such as core/pod_resize.go. What several groups share, such as the pod template, is in package
// core. To add a type, add a resource.Resource to resources.go of its group; to give it defaults,
// set SetDefaults in that row.
package builtin
