// Package openapi builds the OpenAPI documents of a server from a resource.Table: the index
// /openapi/v3, one document for each group and version and for each discovery path (KEP-2896), and
// the document /openapi/v2 (DI-18).
//
// # Construction
//
// On a real server, schemas come from openapi-gen, which reads the sources of the types, and
// operations from the installed handlers. kube-openapi combines them. Here, operations are built
// from the table, as input of the builders of kube-openapi (route.go, operations.go, paths.go,
// subresources.go, parameters.go), and schemas by reflection on the Go types of the table
// (types.go, schemas.go). Reflection does not see comments. Their text comes from the SwaggerDoc
// methods of the types. Their markers (optional fields, lists and their keys, defaults, enums,
// unions) come from markers.json, which a test generates from the sources of the release in go.mod
// and compares. Other tests compare the result with the documents of a real server, and, for every
// type, with the schemas of client-go.
//
// # Cost
//
// A document is built at its first use, and those of built-in types once per process. A schema is
// built and encoded once for all documents that contain it. BenchmarkDocuments measures CPU time,
// relative to a client's parsing of the v2 document (about 60 ms): building v2 takes three times as
// long, in protobuf a little more; the first v3 document three quarters, each further one a tenth,
// and the index, with the hashes of all documents, two and a half times.
//
// # Tables
//
// Documents belong to one table, which does not change. Another table needs other Documents.
//
// # Custom resources
//
// The schemas of custom resources are structural schemas (custom.go), and their operations are
// fewer than those of built-in types (custom_paths.go). WithCustomResources returns documents of a
// table and custom resources (custom_documents.go): a v3 document for each of their groups and
// versions, and a v2 document of everything. Unaffected documents are shared with the previous
// ones. The documents are compared with those of a real server, without the parameter
// shardSelector. v2 says less: fields that may be null or have unknown properties have no type
// there, because kubectl would reject properties that it does not find.
//
// # Not included
//
//   - The documentation of enum values, and the descriptions of the few types without SwaggerDoc,
//     which have shorter ones (descriptions.go).
//   - HEAD and OPTIONS of proxy subresources, the alpha parameter shardSelector, and CBOR, which
//     are not served.
//   - /logs, which is not served: --enable-logs-handler is off by default.
package openapi
