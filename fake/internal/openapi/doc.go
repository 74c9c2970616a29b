// Package openapi makes the OpenAPI v3 documents of a server from a
// resource.Table: the index /openapi/v3 and one document for each group and
// version (KEP-2896, DI-18).
//
// What a document tells truly are the paths, the operations behind them with
// the kind that each works on (x-kubernetes-group-version-kind,
// x-kubernetes-action), and the query parameters that an operation takes. That
// is what kubectl looks at before it sends fieldValidation, so that kubectl
// apply and create work with their default --validate=true.
//
// What it does not tell yet is the inside of a type. A schema says that the kind
// is an object with apiVersion, kind and metadata and preserves every other
// field; it never says that a field is unknown. For the same reason PATCH does
// not list application/strategic-merge-patch+json, though the server takes it:
// a client that builds such patches from the schema (kubectl apply does where
// the type is listed) would find no merge keys and replace lists whole. Without
// it kubectl uses the merge keys that are compiled into it, which are right.
//
// The deprecated /watch/ paths, the non-resource paths are not documented, and the OpenAPI v2
// document names no types (v2.go).
//
// Nothing is made before it is asked for.
package openapi
