// Package compare compares two API servers: it sends the same requests to both and reports, by
// rule, where the responses differ. It implements the command "fakeapi compare".
//
// # Comparing by the suite
//
// [Suites] runs the cases of package conformance on both servers in step: no side is ahead by more
// than one case. A transport records the exchanges of each case, which are then compared in order:
//
//   - the request: method, path, Accept, Content-Type and body. If the requests differ, the rest of
//     the case is not compared;
//   - the status code. If it differs, the rest of the response is not compared;
//   - the headers that depend on the API server. Of Audit-Id, Etag and Last-Modified only the
//     presence is compared;
//   - the body as a value, decoded from JSON, YAML, protobuf of known types or CBOR. Of other
//     bodies, and of metrics, only the presence is compared;
//   - the watch events that both sides have read, and whether the server ended the stream.
//
// Differences after the first one of a case may be consequences of it and are marked as later ones.
//
// Nondeterministic parts are not compared: clean-up requests, all but the last attempt of a request
// that is repeated, and everything but the status codes after the first concurrent requests. Of
// set-up requests only the status codes are compared. [conformance.RequestPurposeFrom] returns the
// purpose of a request. Package httpdiff replaces values that always differ between two servers by
// placeholders. The resourceVersions of objects must be equal on the right where they are equal on
// the left, because no other client writes the objects of a case. The IDs of the two runs differ in
// one letter and are normalized.
//
// # Comparing with recordings
//
// [Recordings] replays recorded exchanges, see package golden, against one server.
//
// # Limits
//
// The package does not decide which side is right. Cases that only one side can run are counted,
// but their exchanges are not compared.
package compare
