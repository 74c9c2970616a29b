// Package discovery builds the discovery documents from a resource.Table:
//
//	/api               APIVersions, or the aggregated core group
//	/apis              APIGroupList, or all aggregated named groups
//	/apis/GROUP        APIGroup
//	/api/VERSION       APIResourceList
//	/apis/GROUP/VERSION
//
// A document is built at its first request and cached as an object and as JSON. The caller
// negotiates the form and the encoding, and answers 304 and 404.
//
// The documents are those of a v1.37 API server, with its irregularities: the documents of /api and
// /api/v1 have a kind without an apiVersion, and responseKind in aggregated discovery has no group
// and version where they are those of the entry around it.
//
// Other packages serve /version, the health checks and OpenAPI.
package discovery
