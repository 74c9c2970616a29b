// Package discovery makes the documents by which clients learn what a server
// serves, all of them from a resource.Table:
//
//	/api               APIVersions, or aggregated the core group
//	/apis              APIGroupList, or aggregated every named group
//	/apis/GROUP        APIGroup
//	/api/VERSION       APIResourceList
//	/apis/GROUP/VERSION
//
// A document is made when it is first asked for and kept as an object and as
// JSON. Which of the two forms a client wants, and in which encoding, is the
// server's business, and so are 304 and 404 answers.
//
// The forms are those of a v1.37 API server, its irregularities included: the
// documents of /api and /api/v1 carry a kind without an apiVersion, and the
// responseKind of aggregated discovery leaves group and version empty where they
// are those of the surrounding entry.
//
// What is not here: /version, the health checks and OpenAPI.
package discovery
