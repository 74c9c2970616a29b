// Package openapi makes the OpenAPI documents of a server from a resource.Table: the
// index /openapi/v3 and one document for each group and version and for each path
// of discovery (KEP-2896), and the one document /openapi/v2 (DI-18).
//
// # How
//
// A real server has its schemas from openapi-gen, which reads the sources of the types,
// and its operations from the handlers that it has installed; kube-openapi puts the two
// together. So it is here: operations are made from the rows of the table in the
// form that the builders of kube-openapi take (route.go, operations.go, paths.go,
// subresources.go, parameters.go), and schemas by reflection on the Go types of the
// rows (types.go, schemas.go). What reflection cannot see are the comments. Their text
// comes from the types' own SwaggerDoc; their markers (what is optional although it
// is always written, lists and their keys, defaults, enums, unions) from markers.json,
// which a test makes from the sources of the release in go.mod and compares with
// them. Other tests compare the result with what a real server told and, for every
// type, with the schemas that client-go merges by.
//
// # Cost
//
// Nothing is made before it is asked for, and a process makes the documents of the
// built-in types once. A schema is made and encoded once for all documents that have
// it. BenchmarkDocuments measures in processor time: a client takes some time to parse
// the document of v2 (about 60 ms); to make it takes three times as long, in protobuf
// a little more; the first document of v3 three quarters, each further one a tenth,
// and the index, with the hashes of all, two and a half times.
//
// # Other tables
//
// Documents belong to one table, which does not change. Whoever serves another one,
// makes other Documents.
//
// # Custom resources
//
// They have structural schemas instead of Go types (custom.go) and operations of their
// own, fewer than the built-in types (custom_paths.go). Documents.With makes of the
// documents of a table those of the table and of custom resources (with.go): a document of v3
// for each of their groups and versions, and the one of v2 with everything in it. What
// stays the same is shared, what is new is made when it is asked for. Both are what a
// real server makes of a definition, without the parameter shardSelector, and compared
// with what it told. The document of v2 says less: of a field that may be null, or in
// which unknown ones are kept, it does not tell the type, as kubectl would refuse what it does not
// find there.
//
// # Left out
//
//   - What the values of an enum mean, and the descriptions of the few types that do not
//     carry their comments: they have shorter ones (descriptions.go).
//   - HEAD and OPTIONS behind a proxy, the alpha parameter shardSelector, CBOR: they are
//     not served.
//   - /logs, /openid/v1/jwks and /.well-known/openid-configuration, as they are not
//     served.
package openapi
