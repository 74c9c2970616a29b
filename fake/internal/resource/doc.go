// Package resource describes the resources that a server serves, in each of their versions, and
// finds them by path and kind.
//
// # Resources
//
// A [Resource] is data and hooks. The data is what discovery shows (names, scope, verbs,
// subresources) and the flags of the storage: whether an update may create or overwrite an object,
// whether metadata.generation is counted, what a delete returns, which fields can be selected by.
// The hooks are those of a strategy in k8s.io/apiserver/pkg/registry/rest: PrepareForCreate,
// PrepareForUpdate, Canonicalize, Validate, ValidateUpdate, WarningsOnCreate, WarningsOnUpdate. A
// [Subresource] has hooks of its own.
//
// The built-in types are in the packages below builtin, one for each group. Custom resources are
// made by [ForCRD], one [Resource] for each served version. Their Go type is
// unstructured.Unstructured, and their hooks call the versions.Version of the field Custom.
//
// # Tables
//
// A [Table] has all resources that are served. [NewTable] fills in the defaults of the resources.
// [Table.WithResources] adds custom resources; package registry calls it whenever a
// CustomResourceDefinition changes.
//
// # Storage
//
// Objects are stored in StorageVersion under StorageResource. Two kinds are served by two resources
// with one storage: events (in the core group and in events.k8s.io) and horizontalpodautoscalers
// (in autoscaling/v1 and v2). [Resource.Convert] converts between a resource's version and
// StorageVersion.
package resource
