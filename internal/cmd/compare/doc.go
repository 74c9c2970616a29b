// Package compare holds two API servers against each other: the same requests, and what is different in the answers, by rule. The command
// "fakeapi compare" is made of it.
//
// # The suite on two sides
//
// [Suites] runs the cases of package conformance on both servers, in step, so that no side is ahead by more than a case. A transport
// takes down what each case sends and gets. The exchanges of a case are then compared one by one, in their order:
//
//   - the request: method, path, Accept, Content-Type and body. Where the sides ask for other things, the case is not compared any further;
//   - the status code. If it differs, nothing else of that answer is looked at;
//   - the headers that say something about an API server, of Audit-Id, Etag and Last-Modified only whether they are there;
//   - the body as a value, whatever its encoding: JSON, YAML, protobuf of known types, CBOR. Other bodies, and metrics, only have to be there;
//   - of a watch, the events that both sides have read, and whether the server ended it.
//
// What differs behind the first difference of a case may only be what came of it, and is marked so.
//
// Left out is what chance decides: clean-up; the tries of what is repeated until it is so, but for the last; all but the codes from
// requests on that are sent side by side; all but the codes of what only sets up a case. Which ones those are, a case says by
// [conformance.RequestPurposeFrom]. Package exchange has the symbols that stand for what no two servers have in common; of resourceVersions,
// those of objects have to be equal where they are on the left, as no other client writes to what a case creates. The names of
// the runs differ in one letter, which is taken out.
//
// # Recordings on the left
//
// [Recordings] plays recorded exchanges, see package golden, on one server.
//
// # What it does not do
//
// It does not say which side is right. Cases that only one side can run are counted, and their exchanges not looked at.
package compare
