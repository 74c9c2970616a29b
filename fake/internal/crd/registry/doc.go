// Package registry has the resources that are served from a store: the built-in types, and the
// custom resources defined by the CustomResourceDefinitions in the store.
//
// [Registry.Sync] reads the CustomResourceDefinitions after one of them may have changed, and
// replaces the resource.Table and the OpenAPI documents. Routing, discovery and the handlers read
// [Registry.Table] for each request. A store has one Registry, which all servers of the store
// share.
//
// # Packages of custom resources
//
// The packages below fake/internal/crd are used in this order, each by the following ones:
//
//	structural   the schema of one version: pruning, defaults, validation
//	conversion   conversion between versions, by webhook or without
//	versions     one accepted CustomResourceDefinition: its schemas, its conversion, the stored form
//	lifecycle    the CustomResourceDefinition as an object: defaults, validation, conditions, deletion
//	registry     all CustomResourceDefinitions of a store, and what is served because of them
//	controller   what follows a write to a CustomResourceDefinition: conditions, finalizing
//
// lifecycle uses none of the others. Package resource makes a resource.Resource of each version,
// and package codec encodes the objects.
package registry
